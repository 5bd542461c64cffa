// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/opcrew/opcrew/internal/stores/plain"
)

const (
	// mostVersion is the maximum number of bytes that are read from a member's response about the cluster version.
	mostVersion = 4 << 10
	// undecided is the cluster version that members report before they have agreed on one for the first time.
	undecided = "not_decided"
)

// web returns the HTTP client for what members report only by HTTP. It follows no redirects and uses no proxy.
func web(target Target, through ContextDialer) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            target.dialer(through),
			TLSClientConfig:        target.TLS.Clone(),
			IdleConnTimeout:        keepAlive, // in a steady state, no request is sent for a long time
			MaxResponseHeaderBytes: mostHeaders,
			DisableCompression:     true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ClusterVersion queries one member for the cluster version. The path and the response are the same in all versions of
// etcd 3.
func (r *remote) ClusterVersion(ctx context.Context, endpoint string) (string, error) {
	if err := r.target.own(endpoint); err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.open, cancel)()
	body, err := get(ctx, r.web, strings.TrimSuffix(endpoint, "/")+"/version")
	if err != nil {
		return "", err // no further text is needed, because the error contains the URL
	}
	said, err := parseVersion(body)
	if err != nil {
		return "", fmt.Errorf("%s: %w", endpoint, err)
	}
	return said, nil
}

func get(ctx context.Context, by *http.Client, url string) ([]byte, error) {
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := by.Do(ask)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s responds with %s", url, plain.Line(answer.Status, mostTrouble))
	}
	return io.ReadAll(io.LimitReader(answer.Body, mostVersion))
}

func parseVersion(body []byte) (string, error) {
	var said struct {
		Cluster string `json:"etcdcluster"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return "", fmt.Errorf("the response is not a version report of etcd: %w", err)
	}
	if said.Cluster == undecided {
		return "", nil
	}
	if _, err := version.ParseSemantic(said.Cluster); err != nil || !plain.Words(said.Cluster, mostWord) {
		return "", fmt.Errorf("the response is not a version report of etcd: %.100q", said.Cluster)
	}
	return said.Cluster, nil
}

// askVersion reads the cluster version if it may change: members raise it some time after all of them run a newer minor
// version. Otherwise the known version is kept.
func (v *View) askVersion(ctx context.Context, store Store) {
	endpoint, ok := v.informed()
	if v.Err != nil || v.agreed() || !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	said, err := store.ClusterVersion(ctx, endpoint)
	v.VersionErr = err
	if said != "" {
		v.ClusterVersion = said
	}
}

// informed returns the endpoint of the member that knows the cluster version best: the leader, or another healthy
// voter.
func (v *View) informed() (endpoint string, ok bool) {
	leader, _ := v.Leader()
	for _, m := range v.Voters() {
		at, has := m.Endpoint()
		if !has || !v.Healthy(m.ID) {
			continue
		}
		if m.ID == leader {
			return at, true
		}
		if !ok {
			endpoint, ok = at, true
		}
	}
	return endpoint, ok
}

// agreed reports whether the cluster version has the lowest minor version that any member runs. It considers only
// members that have answered.
func (v *View) agreed() bool {
	low := v.lowest()
	if low == nil {
		return true
	}
	said, err := version.ParseSemantic(v.ClusterVersion)
	return err == nil && said.Major() == low.Major() && said.Minor() == low.Minor()
}

// mostAgreeing is the longest time that members may take to agree on the cluster version. The leader checks every four
// seconds (etcd: monitorVersionInterval). After etcdctl downgrade, they may never agree.
const mostAgreeing = time.Minute

// agreeing reports whether the cluster version is expected to change soon, so that the members are read more often.
func (v *View) agreeing() bool {
	return v.VersionErr == nil && !v.agreed() && v.At.Sub(v.DisagreesSince) < mostAgreeing
}

// noteAgreement records when the cluster version began to differ from the version that the members run.
func (v *View) noteAgreement(before View) {
	switch {
	case v.agreed():
	case before.DisagreesSince.IsZero():
		v.DisagreesSince = v.At
	default:
		v.DisagreesSince = before.DisagreesSince
	}
}

// lowest returns the lowest version of the members that have answered; nil if none has.
func (v *View) lowest() *version.Version {
	var low *version.Version
	for _, status := range v.Status {
		runs, err := version.ParseSemantic(status.Version)
		if status.Err == nil && err == nil && (low == nil || runs.LessThan(low)) {
			low = runs
		}
	}
	return low
}
