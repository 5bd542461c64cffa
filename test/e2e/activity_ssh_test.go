// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// remotes are machines that opcrew reaches only over SSH: pods with a real sshd.
type remotes struct {
	*chores
	image string
	key   ed25519.PrivateKey
	pods  map[string]*corev1.Pod
	known map[string]string
}

// newRemotes starts machines, and stores the private key and their host keys in the Secret logins.
func newRemotes(t *testing.T, names ...string) *remotes {
	t.Helper()
	r := &remotes{chores: newChores(t), pods: map[string]*corev1.Pod{}, known: map[string]string{}}
	r.image = r.debian(t, "diva-client")
	_, r.key = newSSHKey(t)
	r.kubectl(t, "-n", r.ns, "create", "rolebinding", "opcrew-activity-secrets", "--clusterrole", "opcrew-activity-secrets-machines", "--serviceaccount", "opcrew-system:opcrew-machines")
	for _, name := range names {
		r.start(t, name)
	}
	r.store(t)
	return r
}

func newSSHKey(t *testing.T) (ssh.PublicKey, ed25519.PrivateKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return key, private
}

func privateFile(t *testing.T, key ed25519.PrivateKey) string {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}

// start starts a machine with a host key of its own.
func (r *remotes) start(t *testing.T, name string) {
	t.Helper()
	host, private := newSSHKey(t)
	user, err := ssh.NewPublicKey(r.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	files := &corev1.Secret{StringData: map[string]string{
		"host": privateFile(t, private), "authorized": string(ssh.MarshalAuthorizedKey(user)),
		"config": "UsePAM no\nPermitRootLogin prohibit-password\nStrictModes no\nHostKey /etc/keys/host\nAuthorizedKeysFile /etc/keys/authorized\n",
	}}
	files.Namespace, files.Name = r.ns, name
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		AutomountServiceAccountToken: new(false),
		Containers: []corev1.Container{{
			Name: "sshd", Image: r.image, Command: []string{"/usr/sbin/sshd", "-D", "-e", "-f", "/etc/keys/config"},
			VolumeMounts: []corev1.VolumeMount{{Name: "keys", MountPath: "/etc/keys"}},
		}},
		Volumes: []corev1.Volume{{Name: "keys", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name, DefaultMode: new(int32(0o400))}}}},
	}}
	pod.Namespace, pod.Name = r.ns, name
	for _, object := range []client.Object{files, pod} {
		if err := r.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	eventually.True(t, 2*time.Minute, name+" runs", func() error {
		if err := r.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.Status.PodIP == "" || pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("it is %s", pod.Status.Phase)
		}
		return nil
	})
	r.pods[name], r.known[name] = pod, knownhosts.Line([]string{pod.Status.PodIP}, host)+"\n"
}

// store writes the Secret with the private key and the host keys.
func (r *remotes) store(t *testing.T) {
	t.Helper()
	all := ""
	for _, line := range r.known {
		all += line
	}
	secret := &corev1.Secret{StringData: map[string]string{egov1.SSHPrivateKey: privateFile(t, r.key), egov1.SSHKnownHosts: all}}
	secret.Namespace, secret.Name = r.ns, "logins"
	if err := r.Create(t.Context(), secret); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	} else if err == nil {
		return
	}
	if err := r.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
}

// all makes an Activity run on machines.
func (r *remotes) all(names ...string) chore {
	return func(a *egov1.Activity) {
		machines := &egov1.SSHHosts{Secret: "logins"}
		for _, name := range names {
			machines.Hosts = append(machines.Hosts, egov1.SSHHost{Name: egov1.HostName(name), Address: egov1.SSHAddress(r.pods[name].Status.PodIP)})
		}
		a.Spec.Host, a.Spec.Hosts = "", &egov1.Hosts{SSH: machines}
	}
}

func (r *remotes) one(name string) chore {
	return func(a *egov1.Activity) {
		a.Spec.Host, a.Spec.SSH = name, &egov1.SSH{Address: egov1.SSHAddress(r.pods[name].Status.PodIP), Secret: "logins"}
	}
}

// on runs a command on a machine, without opcrew and without sshd.
func (r *remotes) on(t *testing.T, name string, command ...string) string {
	t.Helper()
	return strings.TrimSpace(r.kubectl(t, append([]string{"exec", "-n", r.ns, name, "--"}, command...)...))
}

func TestAFleetOverSSHRunsOnceOnEveryMachine(t *testing.T) {
	r := newRemotes(t, "db1", "db2", "db3")
	r.run(t, "upgrade", "echo ran >> /var/ran; id -un; pwd; echo $GREETING; echo upgraded", r.all("db1", "db2", "db3"), inDir("/tmp"), func(a *egov1.Activity) {
		a.Spec.Envs = []egov1.Env{"GREETING=it's me"}
	})
	a := r.await(t, "upgrade", egov1.StateSucceeded)
	if g := a.Status.Fleet.Groups; len(g) != 1 || g[0].Count != 3 || g[0].Output != "root\n/tmp\nit's me\nupgraded\n" {
		t.Errorf("expected one group of three machines, got %+v", g)
	}
	for name := range r.pods {
		if ran := r.on(t, name, "cat", "/var/ran"); ran != "ran" {
			t.Errorf("expected one run on %s, got %q", name, ran)
		}
	}
	child := r.get(t, fleet.ChildName("upgrade", 1, "db1"))
	secrets := &corev1.SecretList{}
	if err := r.List(t.Context(), secrets, client.InNamespace("opcrew-activities"), client.MatchingLabels{common.OwnerLabel: string(child.UID)}); err != nil || len(secrets.Items) > 0 {
		t.Errorf("expected the copy of the private key to be deleted at the end, got %d Secrets, %v", len(secrets.Items), err)
	}
	t.Log(r.kubectl(t, "get", "activities", "-n", r.ns))
	t.Log(r.kubectl(t, "get", "activity", "upgrade", "-n", r.ns, "-o", "yaml"))
}

func TestAMachineWithAnotherHostKeyGetsNoCommand(t *testing.T) {
	r := newRemotes(t, "db1", "db2")
	right := r.known["db2"]
	key, _ := newSSHKey(t)
	r.known["db2"] = knownhosts.Line([]string{r.pods["db2"].Status.PodIP}, key) + "\n"
	r.store(t)
	r.run(t, "upgrade", "echo ran >> /var/ran", r.all("db1", "db2"))
	a := r.await(t, "upgrade", egov1.StateFailed)
	fields := strings.Fields(right)
	offered, _, _, _, err := ssh.ParseAuthorizedKey([]byte(strings.Join(fields[1:], " ")))
	if err != nil {
		t.Fatal(err)
	}
	child := r.get(t, fleet.ChildName("upgrade", 1, "db2"))
	if !strings.Contains(says(child), ssh.FingerprintSHA256(offered)) || !strings.Contains(says(child), "may be another machine") {
		t.Errorf("expected the fingerprint of the offered key, got %q", says(child))
	}
	t.Log(says(child))
	if ran := r.on(t, "db2", "sh", "-c", "cat /var/ran 2>/dev/null || true"); ran != "" || a.Status.Fleet.Succeeded != 1 {
		t.Errorf("expected no run on db2, got %q and %+v", ran, a.Status.Fleet)
	}
	r.known["db2"] = right
	r.store(t)
	r.kubectl(t, "patch", "activity", "upgrade", "-n", r.ns, "--type=merge", "-p", `{"spec":{"run":2}}`)
	if a = r.await(t, "upgrade", egov1.StateSucceeded); a.Status.Fleet.Succeeded != 2 {
		t.Errorf("expected success on both machines, got %+v", a.Status.Fleet)
	}
	if ran := r.on(t, "db1", "cat", "/var/ran"); ran != "ran" {
		t.Errorf("expected the rerun to leave out db1, got %q", ran)
	}
}

// The process of the connection is killed, and later the whole machine. In the first case the command goes on, and its
// result is read over another connection. In the second case no one knows.
func TestALostConnectionNeverLeadsToASecondRun(t *testing.T) {
	r := newRemotes(t, "db1", "db2")
	r.run(t, "cut", "echo ran >> /var/ran; sleep 20; exit 6", r.one("db1"))
	r.run(t, "dead", "echo ran >> /var/ran; sleep 600", r.one("db2"))
	for _, name := range []string{"db1", "db2"} {
		eventually.True(t, 2*time.Minute, "the command runs on "+name, func() error {
			if ran := r.on(t, name, "sh", "-c", "cat /var/ran 2>/dev/null || true"); ran != "ran" {
				return fmt.Errorf("its file has %q", ran)
			}
			return nil
		})
	}
	// The main process of sshd is process 1. Its other processes serve the connection.
	r.on(t, "db1", "sh", "-c", "for p in /proc/[0-9]*; do n=${p#/proc/}; if [ $n != 1 ] && grep -q ^sshd $p/comm; then kill -9 $n; fi; done")
	r.kubectl(t, "delete", "pod", "-n", r.ns, "db2", "--grace-period=0", "--force")
	a := r.await(t, "cut", egov1.StateFailed)
	if a.Status.ExitCode == nil || *a.Status.ExitCode != 6 {
		t.Errorf("expected the exit code of the command, got %+v: %s", a.Status.ExitCode, says(a))
	}
	if ran := r.on(t, "db1", "cat", "/var/ran"); ran != "ran" {
		t.Errorf("expected one run, got %q", ran)
	}
	eventually.True(t, 5*time.Minute, "the run on the dead machine is Unknown", func() error {
		if a = r.get(t, "dead"); a.Status.Prosta != egov1.StateUnknown {
			return fmt.Errorf("it is %s: %s", a.Status.Prosta, says(a))
		}
		return nil
	})
	t.Log(says(a))
}

func TestAFleetOverSSHSurvivesRestartsOfTheOperator(t *testing.T) {
	r := newRemotes(t, "db1", "db2", "db3")
	r.run(t, "upgrade", "echo ran >> /var/ran; sleep 15", r.all("db1", "db2", "db3"), func(a *egov1.Activity) {
		a.Spec.Hosts.MaxUnavailable = new(intstr.FromInt32(2))
	})
	for range 3 {
		pod := r.acting(t)
		r.killAtOnce(t, pod)
		r.awaitRestart(t, pod)
	}
	r.waitOperator(t, "machines")
	r.await(t, "upgrade", egov1.StateSucceeded)
	for name := range r.pods {
		if ran := r.on(t, name, "cat", "/var/ran"); ran != "ran" {
			t.Errorf("expected one run on %s, got %q", name, ran)
		}
	}
}

func TestACancelEndsACommandOverSSH(t *testing.T) {
	r := newRemotes(t, "db1")
	r.run(t, "chore", "echo $$ > /var/child; sleep 1000", r.one("db1"))
	eventually.True(t, 2*time.Minute, "the command runs", func() error {
		if r.on(t, "db1", "sh", "-c", "cat /var/child || true") == "" {
			return errors.New("it does not run")
		}
		return nil
	})
	r.kubectl(t, "patch", "activity", "chore", "-n", r.ns, "--type=merge", "-p", `{"spec":{"cancel":true}}`)
	r.await(t, "chore", egov1.StateCancelled)
	if left := r.on(t, "db1", "sh", "-c", "[ -e /proc/$(cat /var/child) ] && echo runs || true"); left != "" {
		t.Error("expected the process of the command to be ended")
	}
}
