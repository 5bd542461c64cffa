// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	peersAtOnce  = 8
	peerPatience = time.Second
	maxMetrics   = 1 << 20
)

// numbers holds the metrics of one pod. The keys are names and labels as they are printed.
type numbers map[string]float64

// peers reads the metrics of the agents in all pods. This needs no password. An attacker could add an address to the
// node table of a server, so the agent never sends a password to such an address.
type peers struct {
	port   int
	client *http.Client
}

func newPeers(port int) *peers {
	return &peers{port, &http.Client{
		Timeout:       peerPatience,
		Transport:     &http.Transport{MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 16 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("an agent must not redirect") },
	}}
}

// ask reads the metrics of the agents on the given hosts, even if the client has disconnected. It leaves out agents
// that do not respond.
func (p *peers) ask(ctx context.Context, hosts []string) map[string]numbers {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	var mu sync.Mutex
	var asking sync.WaitGroup
	out, slots := map[string]numbers{}, make(chan struct{}, peersAtOnce)
	for _, host := range hosts {
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			if found, err := p.get(ctx, host); err == nil {
				mu.Lock()
				defer mu.Unlock()
				out[host] = found
			}
		})
	}
	asking.Wait()
	return out
}

func (p *peers) get(ctx context.Context, host string) (numbers, error) {
	url := "http://" + net.JoinHostPort(host, strconv.Itoa(p.port)) + "/metrics"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s responds with %s", host, answer.Status)
	}
	return parseNumbers(io.LimitReader(answer.Body, maxMetrics))
}

// parseNumbers parses the output of writeMetrics.
func parseNumbers(in io.Reader) (numbers, error) {
	out := numbers{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		name, text, found := strings.Cut(lines.Text(), " ")
		if value, err := strconv.ParseFloat(text, 64); found && err == nil {
			out[name] = value
		}
	}
	return out, lines.Err()
}

// of returns a metric of one server of the pod. place is home for the primary, or guest for the replica.
func (n numbers) of(metric, place string) (float64, bool) {
	value, known := n[fmt.Sprintf("%s{place=%q}", metric, place)]
	return value, known
}

// lag returns the replication lag of a replica, as its primary reports it. place is the place of that primary: home or
// guest.
func (n numbers) lag(place, replica string) (float64, bool) {
	value, known := n[fmt.Sprintf("%s{place=%q,replica=%q}", lagMetric, place, replica)]
	return value, known
}
