// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
)

func TestTheVersionOfARedisClusterChangesWithoutClientsNoticing(t *testing.T) {
	for name, to := range map[string]struct{ recipe, repository, tag string }{
		"to Redis 8.0":  {"redis8", "opcrew/redis", "8.0"},
		"to Valkey 8.1": {"valkey", "opcrew/valkey", "8.1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRedisTest(t, persistentRedis)
			o, w := r.observe(t), r.plain(t)
			r.change(t, to.recipe, to.repository, to.tag)
			w.wantAll(t)
			w.wantNoErrors(t)
			o.wantOneLeader(t)
		})
	}
}

// change sets the image of the Redis cluster to another version. A recipe builds the image if the nodes do not have it.
func (r *redisTest) change(t *testing.T, recipe, repository, tag string) {
	t.Helper()
	if image := repository + ":" + tag; !r.holds(t, image) {
		r.debian(t, recipe)
	}
	r.patch(t, `{"redisEnterpriseImageSpec":{"repository":"`+repository+`","versionTag":"`+tag+`"}}`)
	c := r.await(t, 3)
	if r.wantRing(t, c, 3); !strings.Contains(c.Status.Version, tag) {
		t.Errorf("expected version %s, got %s", tag, c.Status.Version)
	}
}

func TestServersOfARedisClusterThatMoveSlotsByThemselvesDoSoWithoutClientsNoticing(t *testing.T) {
	r := newRedisTest(t, persistentRedis)
	o, w := r.observe(t), r.plain(t)
	// The version in the Debian suite changes from time to time.
	repository, tag, _ := strings.Cut(r.debian(t, "valkey9"), ":")
	r.change(t, "valkey9", repository, tag)
	for _, nodes := range []int32{4, 3} {
		r.kubectl(t, "scale", "-n", r.ns, "rec/"+redisName, fmt.Sprint("--replicas=", nodes))
		r.wantRing(t, r.await(t, nodes), int(nodes))
	}
	if jobs := r.jobs(t); !strings.Contains(jobs, "IMPORT") || !strings.Contains(jobs, "EXPORT") || strings.Contains(jobs, "failed") {
		t.Errorf("expected the server to have given slots away and got them back by itself, it reports %q", jobs)
	}
	w.wantAll(t)
	w.wantNoErrors(t)
	o.wantOneLeader(t)
}

// jobs returns the slot migrations that the primary in the first pod reports to the operator.
func (r *redisTest) jobs(t *testing.T) string {
	t.Helper()
	secret := &corev1.Secret{}
	if err := r.Get(t.Context(), client.ObjectKey{Namespace: r.ns, Name: redisName + "-system"}, secret); err != nil {
		t.Fatal(err)
	}
	server := goredis.NewClient(&goredis.Options{
		Addr: net.JoinHostPort(r.pods(t)[0].Status.PodIP, fmt.Sprint(redisv1alpha1.HomePort)), Username: redispod.System, Password: string(secret.Data["password"]),
	})
	defer func() { _ = server.Close() }() // ignore the error: the server has already responded
	answer, err := server.Do(t.Context(), "CLUSTER", "GETSLOTMIGRATIONS").Result()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(answer)
}
