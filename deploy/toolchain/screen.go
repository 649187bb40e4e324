package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// screen tells the person what is being done: on one line that changes if it is
// a terminal, otherwise in a line now and then.
type screen struct {
	file     *os.File
	terminal bool
}

func newScreen(file *os.File) *screen {
	info, err := file.Stat()
	return &screen{file: file, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

func (s *screen) say(format string, args ...any) {
	fmt.Fprintf(s.file, format+"\n", args...)
}

// progress is how far a build is.
type progress struct {
	screen *screen
	name   string
	total  int
	begun  time.Time
	stop   chan struct{}
	ended  sync.WaitGroup

	mu   sync.Mutex
	done int
}

// start shows a build's progress until finish or fail.
func (s *screen) start(name, what string, total int) *progress {
	p := &progress{screen: s, name: name, total: total, begun: time.Now(), stop: make(chan struct{})}
	s.say("Building %s: %d packages to compile.", what, total)
	every := 30 * time.Second
	if s.terminal {
		every = time.Second
	}
	p.ended.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				p.show()
			}
		}
	})
	return p
}

func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
}

func (p *progress) finish() {
	p.end()
	p.screen.say("%s: built in %s.", p.name, p.elapsed())
}

func (p *progress) fail() { p.end() }

func (p *progress) end() {
	close(p.stop)
	p.ended.Wait()
	if p.screen.terminal {
		p.rewrite("")
	}
}

func (p *progress) show() {
	line := p.String()
	if p.screen.terminal {
		p.rewrite(line)
		return
	}
	p.screen.say("%s", line)
}

// rewrite replaces the terminal's current line.
func (p *progress) rewrite(line string) {
	fmt.Fprint(p.screen.file, "\r\x1b[K"+line)
}

func (p *progress) String() string {
	p.mu.Lock()
	done := p.done
	p.mu.Unlock()
	if done >= p.total {
		return fmt.Sprintf("%s: linking, %s", p.name, p.elapsed())
	}
	return fmt.Sprintf("%s: %d of %d packages, %s", p.name, done, p.total, p.elapsed())
}

func (p *progress) elapsed() string {
	return time.Since(p.begun).Round(time.Second).String()
}
