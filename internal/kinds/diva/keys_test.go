// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"bytes"
	"crypto/dsa" //nolint:staticcheck // to test that it is rejected
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
)

func TestKeysOfAllSortsAreReadWhateverTheyLookLikeAfterPasting(t *testing.T) {
	old := string(key(t, "old").Private)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs1 := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(long)}))
	pkcs8, err := x509.MarshalPKCS8PrivateKey(long)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"as made":                      old,
		"with text before it":          "Bag Attributes\n    friendlyName: ops\n" + old,
		"with text after it":           old + "a comment\n",
		"in lines of another length":   strings.Replace(old, "\n", "\n\n", 2),
		"rsa, in PKCS #8":              string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})),
		"without the end of its line":  strings.TrimSpace(old),
		"with blank lines around":      "\n\n" + old + "\n\n",
		"with the line ends of others": strings.ReplaceAll(old, "\n", "\r\n"),
		"ecdsa":                        encoded(t, ec),
		"rsa":                          encoded(t, long),
		"rsa, in the older format":     pkcs1,
	} {
		t.Run(name, func(t *testing.T) {
			p, why := keys.Parse(text)
			if why != "" {
				t.Fatal(why)
			}
			if got := string(p.Private); !strings.HasSuffix(got, "-----\n") || strings.Contains(got, "\r") || strings.Contains(got, "\n\n") || !strings.HasPrefix(got, "-----BEGIN ") {
				t.Errorf("expected a key that ssh reads, with one end of its last line, got %q", got)
			}
			if keys.Fingerprint(p.Public) == "" {
				t.Errorf("expected a public key, got %q", p.Public)
			}
		})
	}
}

// opcrew converts an ed25519 key in PKCS #8 to the OpenSSH format, because older versions of ssh cannot read PKCS #8.
func TestAnEd25519KeyInPKCS8IsWrittenInTheFormatOfSSHAndAlwaysAlike(t *testing.T) {
	private := *mustRaw(t, key(t, "old")).(*ed25519.PrivateKey)
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
	p, why := keys.Parse(text)
	if why != "" {
		t.Fatal(why)
	}
	again, _ := keys.Parse(text)
	stored, _ := keys.Parse(string(p.Private))
	same(t, "the text at the next look", string(p.Private), string(again.Private))
	same(t, "the text as it is stored", string(p.Private), string(stored.Private))
	same(t, "the public key", key(t, "old").Public, p.Public)

	// The encoding by x/crypto contains a random check number. In all other bytes it must be equal to opcrew's
	// encoding.
	theirs, ours := encodedBytes(t, encoded(t, private)), encodedBytes(t, string(p.Private))
	at := bytes.Index(theirs, []byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"))
	at += bytes.Index(theirs[at+1:], []byte("\x00\x00\x00\x0bssh-ed25519")) + 1
	if !bytes.Equal(theirs[:at-8], ours[:at-8]) || !bytes.Equal(theirs[at:], ours[at:]) || !bytes.Equal(ours[at-8:at-4], ours[at-4:at]) {
		t.Errorf("expected the file that x/crypto makes, got %q", p.Private)
	}
}

func encodedBytes(t *testing.T, text string) []byte {
	t.Helper()
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != "OPENSSH PRIVATE KEY" {
		t.Fatalf("expected a key in the format of ssh, got %q", text)
	}
	return block.Bytes
}

func TestAKeyThatIsOfNoUseIsReportedWithWhatToWrite(t *testing.T) {
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(mustRaw(t, key(t, "old")), "", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ text, want string }{
		"no key":       {"not a key", "the value is not a private key (ssh: no key found); provide a key such as ssh-keygen -t ed25519 creates"},
		"a public key": {key(t, "old").Public, "the value is not a private key"},
		"half a key":   {string(key(t, "old").Private)[:200], "the value is not a private key"},
		"locked":       {string(pem.EncodeToMemory(locked)), "the private key needs a passphrase"},
		"dsa":          {dsaKey(t), "the private key is a DSA key, which sshd no longer accepts"},
	} {
		t.Run(name, func(t *testing.T) {
			p, why := keys.Parse(test.text)
			if p != nil || !strings.HasPrefix(why, test.want) {
				t.Errorf("expected %q, got %q", test.want, why)
			}
		})
	}
}

func mustRaw(t *testing.T, p *keys.Pair) any {
	t.Helper()
	raw, err := ssh.ParseRawPrivateKey(p.Private)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// dsaKey returns a DSA key with parameters that are too small for real use, but fast to generate.
func dsaKey(t *testing.T) string {
	t.Helper()
	private := dsa.PrivateKey{}
	if err := dsa.GenerateParameters(&private.Parameters, rand.Reader, dsa.L1024N160); err != nil {
		t.Fatal(err)
	}
	if err := dsa.GenerateKey(&private, rand.Reader); err != nil {
		t.Fatal(err)
	}
	raw, err := asn1.Marshal(struct {
		Version            int
		P, Q, G, Pub, Priv *big.Int
	}{0, private.P, private.Q, private.G, private.Y, private.X})
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "DSA PRIVATE KEY", Bytes: raw}))
}

func TestAPairThatIsMadeIsReadBackAndIsAnotherEachTime(t *testing.T) {
	a, err := keys.New("opcrew shop/ops")
	if err != nil {
		t.Fatal(err)
	}
	b, err := keys.New("opcrew shop/ops")
	if err != nil {
		t.Fatal(err)
	}
	if a.Public == b.Public || !strings.HasPrefix(a.Public, "ssh-ed25519 ") || strings.Count(a.Public, " ") != 1 {
		t.Errorf("expected two ed25519 keys without comments, got %q and %q", a.Public, b.Public)
	}
	// The agent overwrites the key file in place. If the new key were shorter, the end of the old key would remain in
	// the file for a moment.
	if len(a.Private) != len(b.Private) {
		t.Errorf("expected keys of one length, got %d and %d", len(a.Private), len(b.Private))
	}
}

func TestPublicKeysAreReadLineByLine(t *testing.T) {
	old, fresh := key(t, "old").Public, key(t, "fresh").Public
	for name, test := range map[string]struct {
		text string
		keys []string
		bad  []int
	}{
		"none":                    {"", nil, nil},
		"the article's":           {"ssh-rsa AAAAB3NzaC1yc2EAAAA...", nil, []int{1}},
		"one with a comment":      {old + " me@home\n", []string{old}, nil},
		"several":                 {"# mine\n" + old + "\n\n" + fresh, []string{old, fresh}, nil},
		"with options":            {`from="10.0.0.0/8",no-pty ` + old + " me", []string{`from="10.0.0.0/8",no-pty ` + old}, nil},
		"one of two is cut short": {old + "\n" + fresh[:30], []string{old}, []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			keys, bad := keys.ParsePublic(test.text)
			same(t, "keys", test.keys, keys)
			same(t, "lines that are none", test.bad, bad)
		})
	}
}

func TestAGivenPairIsTakenIfItBelongsTogether(t *testing.T) {
	old, other := key(t, "old"), key(t, "new")
	secret := func(pairs ...string) map[string][]byte {
		out := map[string][]byte{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = []byte(pairs[i+1])
		}
		return out
	}
	for name, test := range map[string]struct {
		data   map[string][]byte
		reason string
		words  []string
	}{
		"a private key alone":         {secret("privateKey", string(old.Private)), "", nil},
		"with its public key":         {secret("privateKey", string(old.Private), "publicKey", old.Public+" me"), "", nil},
		"as Kubernetes' type has it":  {secret("ssh-privatekey", string(old.Private), "ssh-publickey", old.Public), "", nil},
		"as ssh's files are named":    {secret("id_ed25519", string(old.Private), "id_ed25519.pub", old.Public), "", nil},
		"with a public key cut short": {secret("privateKey", string(old.Private), "publicKey", "ssh-rsa AAAA..."), "", nil},
		"with another's public key":   {secret("privateKey", string(old.Private), "publicKey", other.Public), opsv1.ReasonKeyMismatch, []string{"the public key in Secret mine, publicKey does not match the private key in Secret mine, privateKey", old.Public}},
		"that is no key":              {secret("privateKey", "x"), opsv1.ReasonKeyUnusable, []string{"Secret mine, privateKey: the value is not a private key"}},
		"in a Secret without one":     {secret("other", "x"), opsv1.ReasonKeyMissing, []string{"Secret mine does not exist or has no private key; opcrew looks for a key under one of the names privateKey, ssh-privatekey"}},
		"in no Secret":                {nil, opsv1.ReasonKeyMissing, []string{"Secret mine does not exist or has no private key"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := keys.FromSecret("mine", test.data)
			if test.reason == "" {
				if got.Problem != nil || got.Pair == nil || got.Pair.Public != old.Public {
					t.Errorf("expected the pair, got %+v", got)
				}
				return
			}
			if got.Pair != nil || got.Problem == nil || got.Problem.Reason != test.reason {
				t.Fatalf("expected %s, got %+v", test.reason, got.Problem)
			}
			says(t, got.Problem.Message, test.words...)
			if strings.Contains(got.Problem.Message, "PRIVATE") {
				t.Errorf("the message has a private key in it: %s", got.Problem.Message)
			}
		})
	}
}

func TestAPublicKeyWithoutItsPrivateKeyIsLetInToo(t *testing.T) {
	mine := key(t, "mine").Public
	d := newDiva(1, func(d *opsv1.Diva) { d.Spec.PublicKey = mine + " me@home" })
	same(t, "further keys", []string{mine}, keys.Extra(d))
	says(t, settled(t).Authorized(keys.Extra(d)), mine, key(t, "old").Public)
	d.Spec.PrivateKey = string(key(t, "mine").Private)
	same(t, "further keys beside a private one", []string(nil), keys.Extra(d))
}
