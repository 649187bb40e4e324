package runner

import (
	"bytes"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// read adds the lines of a stream to an observation. A last line without its
// newline is being written, or was when the runner died: it is left out.
func (o *Observation) read(stream []byte) {
	o.Stream = stream
	for {
		end := bytes.IndexByte(stream, '\n')
		if end < 0 {
			return
		}
		var line Line
		if json.Unmarshal(stream[:end], &line) == nil {
			o.add(line)
		}
		stream = stream[end+1:]
	}
}

func (o *Observation) add(line Line) {
	o.Heartbeat = line.Time
	switch {
	case line.Log != nil:
		o.Log = append(o.Log, v1alpha1.LogLine{Time: metav1.NewTime(line.Time), Severity: line.Log.Severity, Text: line.Log.Text})
	case line.Step != nil:
		o.Steps = append(o.Steps, *line.Step)
	case line.Heartbeat != nil:
		o.Doing = line.Heartbeat.Doing
	case line.Result != nil:
		o.Result = line.Result
	}
}
