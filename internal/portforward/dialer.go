// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package portforward connects to ports of pods through the API server. It is for a process that can reach neither the
// addresses of pods nor the DNS of the cluster. It works like kubectl port-forward, without a local listener. The
// caller handles the protocol of the connection, such as TLS.
package portforward

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// Dialer connects to pods with the rights of an API client. The client needs the rights to get and create
// pods/portforward, and to list pods if it dials IP addresses.
type Dialer struct {
	config *rest.Config
	core   corev1client.CoreV1Interface
}

// New returns a Dialer that uses the given client configuration.
func New(config *rest.Config) (*Dialer, error) {
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create a client for port-forward: %w", err)
	}
	return &Dialer{config: config, core: core}, nil
}

// DialContext connects to a port of a pod. The host is either the DNS name of a pod behind a headless Service
// (<pod>.<service>.<namespace>.svc) or the address of a running pod. The API server accepts connections before it knows
// whether the port is open. If nothing listens there, the first read returns an error.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	pod, err := d.podAt(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	conn, err := d.connect(ctx, pod, addr{network, address}, port)
	if err != nil {
		return nil, fmt.Errorf("dial %s by port-forward to pod %s: %w", address, pod, err)
	}
	return conn, nil
}

// podAt returns the pod that a host name or address belongs to.
func (d *Dialer) podAt(ctx context.Context, host string) (types.NamespacedName, error) {
	if net.ParseIP(host) == nil {
		return byName(host)
	}
	list, err := d.core.Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("status.podIP", host).String(),
	})
	if err != nil {
		return types.NamespacedName{}, fmt.Errorf("find the pod with this address: %w", err)
	}
	return byAddress(list.Items)
}

// byName parses the DNS name of a pod behind a headless Service.
func byName(host string) (types.NamespacedName, error) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) < 4 || parts[3] != "svc" {
		return types.NamespacedName{}, fmt.Errorf("%s does not name a pod: it is neither an address nor of the form <pod>.<service>.<namespace>.svc", host)
	}
	return types.NamespacedName{Namespace: parts[2], Name: parts[0]}, nil
}

// byAddress returns the running pod with an address. It fails if several pods have that address, such as pods in the
// host network. Pods that have ended do not count, although they keep their address.
func byAddress(pods []corev1.Pod) (types.NamespacedName, error) {
	var found []types.NamespacedName
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodRunning && !pod.Spec.HostNetwork {
			found = append(found, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
		}
	}
	if len(found) != 1 {
		return types.NamespacedName{}, fmt.Errorf("%d running pods have this address, but exactly one must have it: %v", len(found), found)
	}
	return found[0], nil
}

// connect opens a tunnel and a connection over it. The library does not support contexts, so a connection that opens
// after ctx has ended is closed.
func (d *Dialer) connect(ctx context.Context, pod types.NamespacedName, to addr, port string) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		conn, err := d.open(pod, to, port)
		done <- result{conn, err}
	}()
	select {
	case r := <-done:
		return r.conn, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil {
				_ = r.conn.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

func (d *Dialer) open(pod types.NamespacedName, to addr, port string) (net.Conn, error) {
	dialer, err := d.tunnels(pod)
	if err != nil {
		return nil, err
	}
	tunnel, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err != nil {
		return nil, err
	}
	conn, err := newConn(tunnel, to, port)
	if err != nil {
		_ = tunnel.Close()
		return nil, err
	}
	return conn, nil
}

// tunnels returns a dialer for tunnels to a pod. Like kubectl, it uses WebSockets, and falls back to SPDY if a proxy
// blocks WebSockets.
func (d *Dialer) tunnels(pod types.NamespacedName) (httpstream.Dialer, error) {
	url := d.core.RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("portforward").URL()
	socket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, d.config)
	if err != nil {
		return nil, err
	}
	transport, upgrader, err := spdy.RoundTripperFor(d.config)
	if err != nil {
		return nil, err
	}
	plain := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	return portforward.NewFallbackDialerForStreaming(socket, plain, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}
