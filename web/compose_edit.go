package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/towpath-dev/towpath/components/page"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
	"github.com/towpath-dev/towpath/internal/fault"
	"github.com/towpath-dev/towpath/web/compose"
	"github.com/towpath-dev/towpath/web/kube"
)

// newProposal handles GET /compose: an empty form, one with a golden path in it,
// or that of a service or of a change.
func (s *Server) newProposal(c echo.Context) error {
	ctx, user := c.Request().Context(), user(c)
	namespace := c.QueryParam("namespace")
	switch service, change := c.QueryParam("service"), c.QueryParam("change"); {
	case service != "":
		world, err := s.world(ctx, user, namespace, service)
		if err != nil {
			return err
		}
		current, err := s.Cluster.Program(ctx, user, namespace, service)
		if err != nil {
			return err
		}
		form := compose.ReadService(world, namespace, service, current.Program)
		return s.answerForm(c, http.StatusOK, world, &form, nil)
	case change != "":
		return s.reviseChange(c, namespace, change)
	}
	world, err := s.world(ctx, user, "", "")
	if err != nil {
		return err
	}
	form := compose.New(world)
	var problems []compose.Problem
	if form.AddPath = c.QueryParam("path"); form.AddPath != "" {
		problems = form.Add(world, example(world, form.AddPath, c.QueryParam("example")))
	}
	return s.answerForm(c, http.StatusOK, world, &form, problems)
}

// example are the inputs of an example of a golden path, by the example's name.
func example(world compose.World, path, name string) map[string]apiextensionsv1.JSON {
	version := newest(world.Catalogue, path)
	if version == nil {
		return nil
	}
	for _, example := range version.Spec.Examples {
		if example.Name == name {
			return example.Inputs
		}
	}
	return nil
}

// reviseChange shows the form of what a change proposed.
func (s *Server) reviseChange(c echo.Context, namespace, name string) error {
	ctx, user := c.Request().Context(), user(c)
	change, err := s.Cluster.Proposal(ctx, user, namespace, name)
	if err != nil {
		return err
	}
	world, err := s.world(ctx, user, namespace, change.Spec.Service)
	if err != nil {
		return err
	}
	base, err := s.base(ctx, user, namespace, change.Spec.Service)
	if err != nil {
		return err
	}
	form := compose.ReadChange(world, namespace, change.Spec, base, base != "")
	return s.answerForm(c, http.StatusOK, world, &form, nil)
}

// editProposal handles POST /compose. Only the button submit writes anything; the
// others give the form back.
func (s *Server) editProposal(c echo.Context) error {
	ctx, user := c.Request().Context(), user(c)
	if err := parseForm(c); err != nil {
		return err
	}
	values := c.Request().PostForm
	world, err := s.world(ctx, user, values.Get(compose.FieldNamespace), values.Get(compose.FieldService))
	if err != nil {
		return err
	}
	draft := values.Get("draft")
	form, err := compose.Parse(values, world, func(field, sealed string) (string, bool) {
		return s.Sealer.Open(user.Username, draft, field, sealed)
	})
	if err != nil {
		return err
	}
	action, subject, _ := strings.Cut(values.Get("action"), ":")
	switch action {
	case "add":
		form.AddPath = cmp.Or(subject, form.AddPath)
		problems := form.Add(world, nil)
		return s.answerForm(c, statusFor(problems), world, &form, problems)
	case "remove":
		form.Remove(subject)
		return s.answerForm(c, http.StatusOK, world, &form, nil)
	case "submit":
		return s.propose(c, world, &form)
	}
	problems := form.Check(world, form.Build(world))
	return s.answerForm(c, http.StatusOK, world, &form, problems)
}

func statusFor(problems []compose.Problem) int {
	if len(problems) > 0 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// propose sends what the form makes, if nothing is wrong with it.
func (s *Server) propose(c echo.Context, world compose.World, form *compose.Form) error {
	ctx, user := c.Request().Context(), user(c)
	proposal := form.Build(world)
	if problems := form.Check(world, proposal); len(problems) > 0 {
		return s.answerForm(c, http.StatusUnprocessableEntity, world, form, problems)
	}
	base, err := s.base(ctx, user, form.Namespace, form.Service)
	if err != nil {
		return err
	}
	if base != form.Base {
		problem := compose.Problem{Message: "Somebody has changed this service since you opened the form. Look at what runs now; propose again if your change is still right."}
		if form.Base == "" {
			problem = compose.Problem{Field: compose.FieldService, Message: "There is a service of this name already. Choose another name, or propose again to change that service."}
		}
		form.Base = base
		return s.answerForm(c, http.StatusConflict, world, form, []compose.Problem{problem})
	}
	cr := &v1alpha1.ChangeRequest{Spec: proposal.Spec}
	cr.Namespace = form.Namespace
	err = s.Cluster.Propose(ctx, user, cr, proposal.Secrets)
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Invalid) || fault.Is(err, fault.Forbidden) || fault.Is(err, fault.Unavailable) {
		// Nothing that was typed is lost.
		status, _, message := judge(err)
		return s.answerForm(c, status, world, form, []compose.Problem{{Message: message}})
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, changeURL(cr.Namespace, cr.Name)+"?done=proposed")
}

// world is what a form about a service is about; without a service, a new one.
func (s *Server) world(ctx context.Context, user kube.User, namespace, service string) (compose.World, error) {
	var world compose.World
	var err error
	if world.Teams, err = s.Cluster.Teams(ctx, user); err != nil {
		return world, err
	}
	if len(world.Teams) == 0 {
		return world, fault.New(fault.Forbidden, nil, "You may not propose changes for any team. Ask the platform team for the role developer.")
	}
	if world.Environments, err = s.Cluster.Environments(ctx, user); err != nil {
		return world, err
	}
	paths, versions, err := s.Cluster.GoldenPaths(ctx, user)
	if err != nil {
		return world, err
	}
	world.GoldenPaths = map[string]v1alpha1.GoldenPathSpec{}
	for _, path := range paths {
		world.GoldenPaths[path.Name] = path.Spec
	}
	world.Catalogue = program.NewCatalogue(versions)
	if service == "" || !slices.Contains(world.Teams, namespace) {
		return world, nil
	}
	world.Stacks, err = s.Cluster.Stacks(ctx, user, namespace, service)
	return world, err
}

// base is the digest of the Program that a service has now; empty when it has none.
func (s *Server) base(ctx context.Context, user kube.User, namespace, service string) (string, error) {
	current, err := s.Cluster.Program(ctx, user, namespace, service)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return program.Digest(current.Program), nil
}

// answerForm renders the form, with what is wrong with it.
func (s *Server) answerForm(c echo.Context, status int, world compose.World, form *compose.Form, problems []compose.Problem) error {
	person := user(c).Username
	view, err := composeView(world, form, problems, func(field, value string) string {
		return s.Sealer.Seal(person, form.Draft, field, value)
	})
	if err != nil {
		return err
	}
	view.Shell = s.shell(c, view.Title)
	view.Shell.Invalid = len(problems) > 0
	return s.render(c, status, page.Compose(view))
}
