// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"context"
	"net/netip"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
)

func service(name string, kind corev1.ServiceType, ingress ...string) *corev1.Service {
	object := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.ServiceSpec{Type: kind},
	}
	for _, address := range ingress {
		object.Status.LoadBalancer.Ingress = append(object.Status.LoadBalancer.Ingress, corev1.LoadBalancerIngress{IP: address})
	}
	return object
}

// start runs the controller with a fake client until the test ends, and returns the client.
func start(t *testing.T, objects ...*corev1.Service) kubernetes.Interface {
	t.Helper()
	client := fake.NewClientset()
	for _, object := range objects {
		if _, err := client.CoreV1().Services("default").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, client, netip.MustParsePrefix("10.0.0.0/29")) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the controller ended with %v", err)
		}
	})
	return client
}

// expectAddress waits until the Service has the wanted address. If want is "", it waits until the Service has none.
func expectAddress(t *testing.T, client kubernetes.Interface, name, want string) {
	t.Helper()
	var got string
	err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, 5*time.Second, true, func(ctx context.Context) (bool, error) {
		object, err := client.CoreV1().Services("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		got = ""
		for _, ingress := range object.Status.LoadBalancer.Ingress {
			got += ingress.IP
		}
		return got == want, nil
	})
	if err != nil {
		t.Errorf("service %s has address %q, want %q", name, got, want)
	}
}

func TestNewServicesDoNotGetWhatOlderOnesHave(t *testing.T) {
	client := start(t,
		service("a-new", corev1.ServiceTypeLoadBalancer),
		service("b-old", corev1.ServiceTypeLoadBalancer, "10.0.0.1"),
		service("internal", corev1.ServiceTypeClusterIP),
	)
	expectAddress(t, client, "a-new", "10.0.0.2")
	expectAddress(t, client, "b-old", "10.0.0.1")
	expectAddress(t, client, "internal", "")
}

func TestAServiceThatBecomesInternalLosesItsAddress(t *testing.T) {
	client := start(t, service("web", corev1.ServiceTypeLoadBalancer))
	expectAddress(t, client, "web", "10.0.0.1")
	internal := service("web", corev1.ServiceTypeClusterIP, "10.0.0.1")
	if _, err := client.CoreV1().Services("default").Update(t.Context(), internal, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	expectAddress(t, client, "web", "")
}

func TestTheAddressOfADeletedServiceIsUsedAgain(t *testing.T) {
	client := start(t, service("first", corev1.ServiceTypeLoadBalancer))
	expectAddress(t, client, "first", "10.0.0.1")
	if err := client.CoreV1().Services("default").Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Services("default").Create(t.Context(), service("second", corev1.ServiceTypeLoadBalancer), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expectAddress(t, client, "second", "10.0.0.1")
}

func TestServicesWithAClassAreLeftAlone(t *testing.T) {
	other := service("other", corev1.ServiceTypeLoadBalancer, "192.0.2.7")
	class := "example.com/other"
	other.Spec.LoadBalancerClass = &class
	client := start(t, other, service("ours", corev1.ServiceTypeLoadBalancer))
	expectAddress(t, client, "ours", "10.0.0.1")
	expectAddress(t, client, "other", "192.0.2.7")
}
