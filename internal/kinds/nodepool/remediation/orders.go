// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// Run is an Activity to create.
type Run struct {
	Name string
	Role Role
	Host string
}

// noAnswer is what the probe of a peer prints if the machine does not answer.
const noAnswer = "no answer"

// control is the variable with the address of a host that must answer the probe.
const control = "CONTROL="

// probe asks for an answer from the addresses in NODE_ADDRESSES, with ping and from the kubelet's port. A method counts
// only if it gets an answer from CONTROL, a host that is Ready: otherwise the peer's own network may be broken.
const probe = `export LC_ALL=C
pings() { ping -c 3 -i 0.5 -W 2 "$1" >/dev/null 2>&1; }
connects() {
  said=$(timeout 5 bash -c 'exec 3<>"/dev/tcp/$0/10250"' "$1" 2>&1) && return 0
  case "$said" in *refused*|*reset*) return 0;; esac
  return 1
}
methods=
pings "$CONTROL" && methods="$methods pings"
connects "$CONTROL" && methods="$methods connects"
if [ -z "$methods" ]; then echo "unknown: this host cannot reach $CONTROL either"; exit 0; fi
for method in $methods; do
  for address in $NODE_ADDRESSES; do
    if "$method" "$address"; then echo "answer from $address"; exit 0; fi
  done
done
echo "no answer"
`

// Spec returns the Activity of a role on a host. The host of the control address is the other peer.
func (in *Input) Spec(run Run) egov1.ActivitySpec {
	spec := in.order(run.Role)
	spec.Host = run.Host
	spec.TTLSecondsAfterFinished = ptr.To[int64](keepSeconds)
	if run.Role == Peer1 || run.Role == Peer2 {
		spec.Envs = append(spec.Envs, egov1.Env(control+in.controlFor(run.Host)))
	}
	return spec
}

// controlFor returns an address of the other peer.
func (in *Input) controlFor(host string) string {
	for _, n := range in.peers() {
		if n.Name != host {
			return addresses(n)[0]
		}
	}
	return ""
}

// order returns what the Activity of a role runs, without its host.
func (in *Input) order(role Role) egov1.ActivitySpec {
	spec := egov1.ActivitySpec{
		Placement: egov1.PlacementRepair, StartDeadlineSeconds: ptr.To[int64](startSeconds), Requester: in.Pool.Requester,
	}
	switch role {
	case Fence:
		in.fill(&spec, in.Pool.Spec.Fence)
	case Power1, Power2:
		in.fill(&spec, in.Pool.Spec.PowerStatus)
	default:
		spec.Command = probe
		spec.Envs = []egov1.Env{egov1.Env("NODE_ADDRESSES=" + strings.Join(addresses(in.Node), " "))}
		spec.TimeoutSeconds = ptr.To[int64](probeSeconds)
	}
	return spec
}

func (in *Input) fill(spec *egov1.ActivitySpec, c nodesv1.RemediationCommand) {
	spec.Command, spec.ExecUser = c.Command, c.ExecUser
	for _, arg := range c.Args {
		spec.Args = append(spec.Args, egov1.Arg(arg))
	}
	for _, env := range c.Envs {
		spec.Envs = append(spec.Envs, egov1.Env(env))
	}
	for _, env := range c.SecretEnvs {
		spec.SecretEnvs = append(spec.SecretEnvs, egov1.SecretEnv{Name: env.Name, Secret: env.Secret, Key: env.Key})
	}
	spec.Envs = append(spec.Envs, machineEnvs(in.Node)...)
	spec.TimeoutSeconds = new(ptr.Deref(c.TimeoutSeconds, nodesv1.DefaultFenceTimeout))
}

// plainID matches provider IDs without characters that a shell interprets.
var plainID = regexp.MustCompile(`^[A-Za-z0-9._:/@=+-]{1,512}$`)

// machineEnvs returns the variables that identify the machine. The kubelet of the dead node has set its address and
// provider ID, so values that could be more than that are left empty.
func machineEnvs(node *corev1.Node) []egov1.Env {
	address, id := "", ""
	if all := addresses(node); len(all) > 0 {
		address = all[0]
	}
	if plainID.MatchString(node.Spec.ProviderID) {
		id = node.Spec.ProviderID
	}
	return []egov1.Env{
		egov1.Env("NODE_NAME=" + node.Name), egov1.Env("NODE_ADDRESS=" + address), egov1.Env("NODE_PROVIDER_ID=" + id),
	}
}

// genuine reports whether an Activity runs what opcrew would run for a role.
func (in *Input) genuine(a *egov1.Activity, role Role) bool {
	want, got := in.order(role), a.Spec
	got.Envs = slices.DeleteFunc(slices.Clone(got.Envs), func(e egov1.Env) bool { return strings.HasPrefix(string(e), control) })
	want.Host, want.Cancel, want.TTLSecondsAfterFinished = got.Host, got.Cancel, got.TTLSecondsAfterFinished
	return got.Host != in.Node.Name && equality.Semantic.DeepEqual(got, want)
}
