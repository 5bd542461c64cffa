// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/opcrew/opcrew/internal/agents/sshrun/script"
)

// exchange is the execution of a script on the host.
type exchange struct {
	session *ssh.Session
	// reports receives what the script reports, and is closed when the script has ended.
	reports chan report
	// output is what the command prints. Text of the login shell before it is left out.
	output io.Reader
}

// start sends a script to the host. An error means that the host has not received any of it.
func (l *link) start(text string) (*exchange, error) {
	opened := make(chan *shell, 1)
	err := l.within(l.open, func() error {
		s, err := l.shell()
		if err == nil {
			opened <- s
		}
		return err
	})
	switch {
	case errors.Is(err, errNoAnswer):
		l.lose(err) // the function that still waits for the server must not go on
		return nil, err
	case err != nil: // for example because the server allows only one session for each connection
		return nil, err
	}
	s, word := <-opened, wordOf(text)
	x := &exchange{session: s.Session, reports: make(chan report, 16), output: afterWord(s.out, word)}
	go x.receive(s.reported, word)
	go send(s.in, text)
	return x, nil
}

// shell is a shell on the host that waits for a script.
type shell struct {
	*ssh.Session
	in            io.WriteCloser
	out, reported io.Reader
}

func (l *link) shell() (*shell, error) {
	session, err := l.NewSession()
	if err != nil {
		return nil, err
	}
	in, errIn := session.StdinPipe()
	out, errOut := session.StdoutPipe()
	reported, errReported := session.StderrPipe()
	err = errors.Join(errIn, errOut, errReported, session.Start(script.Line))
	return &shell{session, in, out, reported}, err
}

// send writes the script. An error also ends the script, which the exchange notices.
func send(in io.WriteCloser, text string) {
	_, _ = io.WriteString(in, text)
	_ = in.Close()
}

// wordOf returns the word with which the reports of a script begin.
func wordOf(text string) string {
	_, rest, _ := strings.Cut(text, "word='")
	word, _, _ := strings.Cut(rest, "'")
	return word
}

// receive reads reports until the script has ended, or the server sends too much other text.
func (x *exchange) receive(from io.Reader, word string) {
	defer close(x.reports)
	in, noise := bufio.NewReaderSize(from, maxReport), 0
	for noise < maxNoise {
		line, err := in.ReadSlice('\n')
		if text, ok := strings.CutPrefix(string(line), word+" "); ok && err == nil {
			x.reports <- parse(strings.TrimSuffix(text, "\n"))
		}
		noise += len(line)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
	x.reports <- broken("the host sent too much text beside the output of the command")
	_ = x.session.Close()
}

// afterWord returns a reader of the text after the line with the word.
func afterWord(from io.Reader, word string) io.Reader {
	return &skipping{in: bufio.NewReaderSize(from, maxReport), word: word + "\n"}
}

type skipping struct {
	in   *bufio.Reader
	word string
	past bool
}

// Read skips the text before the word, a line at a time.
func (s *skipping) Read(into []byte) (int, error) {
	for !s.past {
		line, err := s.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return 0, err
		}
		s.past = string(line) == s.word
	}
	return s.in.Read(into)
}
