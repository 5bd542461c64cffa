// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reading

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/machines"
)

type answer int

func (a answer) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{Body: io.NopCloser(strings.NewReader(strings.Repeat("a", int(a))))}, nil
}

func TestAnswersThatAreTooLargeAreNotRead(t *testing.T) {
	for size, want := range map[answer]error{0: nil, maxBody: nil, maxBody + 1: errTooLarge, 2 * maxBody: errTooLarge} {
		response, err := limited{size}.RoundTrip(nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if !errors.Is(err, want) || len(body) > maxBody {
			t.Errorf("%d bytes: expected the error %v, got %v after %d bytes", size, want, err, len(body))
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestALargeAnswerIsReportedAsTooLarge(t *testing.T) {
	for name, size := range map[string]int{"kind NodeClaim": 0, "more than 8 MiB": maxBody} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","metadata":{"name":"gold","annotations":{"a":%q}}}`, strings.Repeat("a", size))
		}))
		defer server.Close()
		mapper := meta.NewDefaultRESTMapper(nil)
		kind := machines.KindOf(*pool("gold", "gold").Spec.Machine.TemplateRef)
		mapper.Add(kind, meta.RESTScopeRoot)
		live, err := limitedClient(&rest.Config{Host: server.URL}, client.Options{Mapper: mapper})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*nodesv1.NodePool{pool("metadata", "gold"), pool("status", "gold", "sg-1")} {
			reader := &api{live, nil, clocktesting.NewFakeClock(time.Now()), nil}
			view := reader.read(t.Context(), target{*p.Spec.Machine.TemplateRef, len(p.Spec.Machine.SecurityGroups) > 0})
			if view.Problem == nil || !strings.Contains(view.Problem.Message, name) {
				t.Errorf("%s: expected the message to contain %q, got %+v", p.Name, name, view.Problem)
			}
		}
	}
}
