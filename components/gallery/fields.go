package gallery

import "github.com/towpath-dev/towpath/components"

func environmentsField(id, dev, test, prod string) []components.FieldView {
	return []components.FieldView{
		{ID: id + "-dev", Name: id + ".dev", Label: "dev", Value: dev},
		{ID: id + "-test", Name: id + ".test", Label: "test", Value: test},
		{ID: id + "-prod", Name: id + ".prod", Label: "prod", Value: prod},
	}
}

func secretField() components.FieldView {
	typed := func(environment, title string) components.FieldView {
		return components.FieldView{ID: "orders-db-password-" + environment, Name: "orders-db.password." + environment, Label: title, Kind: components.Password}
	}
	kept := func(environment, title string) components.FieldView {
		id := "orders-db-password-ref-" + environment
		return components.FieldView{ID: id, Name: id, Label: title + ", or Secret/key", Value: "orders-db-" + environment + "/password"}
	}
	return components.FieldView{
		ID: "orders-db-password", Label: "Password", Required: true, PerEnvironmentOnly: true,
		Hint: "The password of the database user. Type it, or name a Secret of the team and its key, as in orders-db/password.",
		PerEnvironment: []components.FieldView{
			typed("dev", "dev"), kept("dev", "dev"),
			typed("test", "test, given and kept"), kept("test", "test"),
			typed("prod", "prod"), kept("prod", "prod"),
		},
	}
}

func passwordField() components.FieldView {
	return components.FieldView{
		ID: "orders-db-token", Name: "orders-db.token", Label: "Token", Required: true, Kind: components.Password,
		Hint: "It is kept in a Secret in shop and never shown again.",
	}
}

func imageField(problem string) components.FieldView {
	return components.FieldView{
		ID: "orders-web-image", Name: "orders-web.image", Label: "Image", Required: true, MaxLength: 300,
		Value: "ghcr.io/acme/orders:latest", Hint: "With a fixed version or digest.", Problem: problem,
	}
}

func replicasField() components.FieldView {
	return components.FieldView{
		ID: "orders-web-replicas", Name: "orders-web.replicas", Label: "Replicas", Kind: components.Number,
		Hint: "1 to 20.", Default: "2", Value: "2", PerEnvironment: environmentsField("orders-web.replicas", "", "", "3"),
	}
}

func wiredField() components.FieldView {
	return components.FieldView{
		ID: "orders-web-secretName", Name: "orders-web.secretName", Label: "Secret with variables",
		Hint: "Its keys become environment variables.",
		Wire: &components.WireView{
			ID: "orders-web-secretName-wire", Name: "orders-web.secretName.wire", Wired: "orders-db → secretName",
			Options: []components.OptionView{{Value: "orders-db.secretName", Label: "orders-db → secretName", Selected: true}, {Value: "orders-db.host", Label: "orders-db → host"}},
		},
	}
}

func wireableField() components.FieldView {
	return components.FieldView{
		ID: "orders-web-host", Name: "orders-web.host", Label: "Host name", PerEnvironment: environmentsField("orders-web.host", "", "", ""),
		Wire: &components.WireView{
			ID: "orders-web-host-wire", Name: "orders-web.host.wire",
			Options: []components.OptionView{{Value: "orders-db.host", Label: "orders-db → host"}},
		},
	}
}

func suggestedField() components.FieldView {
	v := wireableField()
	v.ID, v.Name, v.Label, v.PerEnvironment = "orders-web-user", "orders-web.user", "User", nil
	v.Wire = &components.WireView{
		ID: "orders-web-user-wire", Name: "orders-web.user.wire", Suggested: true,
		Options: []components.OptionView{{Value: "orders-db.user", Label: "orders-db → user"}},
	}
	return v
}

func selectField() components.FieldView {
	return components.FieldView{
		ID: "orders-db-version", Name: "orders-db.version", Label: "Version", Kind: components.Select, Required: true,
		Options: []components.OptionView{{Value: "16", Label: "16"}, {Value: "17", Label: "17", Selected: true}},
	}
}

func checkField() components.FieldView {
	return components.FieldView{
		ID: "orders-web-public", Name: "orders-web.public", Label: "Reachable from outside", Kind: components.Checkbox, Checked: true,
		Hint: "Makes an Ingress.",
	}
}

func listField() components.FieldView {
	return components.FieldView{
		ID: "orders-web-args", Name: "orders-web.args", Label: "Arguments", Kind: components.List, Hint: "One per line.", Value: "--port=8080\n--verbose",
	}
}

func keyValueField() components.FieldView {
	return components.FieldView{
		ID: "orders-web-env", Name: "orders-web.env", Label: "Environment variables", Kind: components.KeyValue,
		Hint: "One NAME=value per line.", Value: "LOG_LEVEL=info", Problem: "Line 2 has no “=”.",
	}
}

func fieldStates() []components.FieldView {
	return []components.FieldView{
		imageField("A fixed version or digest is needed; “latest” can change under you."),
		replicasField(), selectField(), checkField(), listField(), keyValueField(), secretField(), passwordField(), wiredField(), wireableField(), suggestedField(),
	}
}
