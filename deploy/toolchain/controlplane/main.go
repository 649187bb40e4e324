// Command controlplane is the control plane that `towpath dev` and the tests
// run: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok and
// kubectl in one program, chosen by the name it is called by. One program links
// once what five would link five times, and shares its pages in memory.
//
// It adds nothing to them: the arguments are those of the program of that name.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	_ "time/tzdata" // for time zones in CronJob

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics, as the originals register them
	_ "k8s.io/component-base/metrics/prometheus/version"  // version metric, as the originals register it
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

func main() {
	os.Exit(run(filepath.Base(os.Args[0])))
}

func run(name string) int {
	switch name {
	case "etcd":
		etcdmain.Main(os.Args)
		return 0
	case "kube-apiserver":
		return cli.Run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		return cli.Run(controllermanager.NewControllerManagerCommand())
	case "kube-scheduler":
		return cli.Run(scheduler.NewSchedulerCommand())
	case "kubectl":
		return cli.Run(kubectl.NewDefaultKubectlCommand())
	case "kwok":
		return runKwok()
	default:
		fmt.Fprintf(os.Stderr, "controlplane: %q is none of etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl, kwok; call it by one of these names\n", name)
		return 2
	}
}

// runKwok reads kwok's configuration flags before its command exists, as
// kwok's own main does: --config decides which flags the command has.
func runKwok() int {
	// Cobra takes the process-wide flags into every command. Kubernetes' --version
	// is among them and of another type than kwok's own.
	pflag.CommandLine = pflag.NewFlagSet(os.Args[0], pflag.ExitOnError)
	global := pflag.NewFlagSet("global", pflag.ContinueOnError)
	global.ParseErrorsAllowlist.UnknownFlags = true
	global.SetOutput(io.Discard)
	ctx, _ := kwoklog.InitFlags(signals.SetupSignalContext(), global)
	ctx, err := kwokconfig.InitFlags(ctx, global)
	if err != nil {
		fmt.Fprintf(os.Stderr, "kwok: read configuration: %v\n", err)
		return 1
	}
	command := kwok.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(global)
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "kwok: %v\n", err)
		return 1
	}
	return 0
}
