// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"bytes"
	"crypto/dsa" //nolint:staticcheck // to see it refused
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
)

func TestKeysOfAllSortsAreReadWhateverTheyLookLikeAfterPasting(t *testing.T) {
	old := string(key(t, "old").private)
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
			p, why := parsePair(text)
			if why != "" {
				t.Fatal(why)
			}
			if got := string(p.private); !strings.HasSuffix(got, "-----\n") || strings.Contains(got, "\r") || strings.Contains(got, "\n\n") || !strings.HasPrefix(got, "-----BEGIN ") {
				t.Errorf("expected a key that ssh reads, with one end of its last line, got %q", got)
			}
			if fingerprint(p.public) == "" {
				t.Errorf("expected a public key, got %q", p.public)
			}
		})
	}
}

// An older ssh reads no ed25519 key in PKCS #8.
func TestAnEd25519KeyInPKCS8IsWrittenInTheFormatOfSSHAndAlwaysAlike(t *testing.T) {
	private := *mustRaw(t, key(t, "old")).(*ed25519.PrivateKey)
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
	p, why := parsePair(text)
	if why != "" {
		t.Fatal(why)
	}
	again, _ := parsePair(text)
	stored, _ := parsePair(string(p.private))
	same(t, "the text at the next look", string(p.private), string(again.private))
	same(t, "the text as it is stored", string(p.private), string(stored.private))
	same(t, "the public key", key(t, "old").public, p.public)

	// What x/crypto makes of it differs in the check number alone, which is a random one there.
	theirs, ours := encodedBytes(t, encoded(t, private)), encodedBytes(t, string(p.private))
	at := bytes.Index(theirs, []byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"))
	at += bytes.Index(theirs[at+1:], []byte("\x00\x00\x00\x0bssh-ed25519")) + 1
	if !bytes.Equal(theirs[:at-8], ours[:at-8]) || !bytes.Equal(theirs[at:], ours[at:]) || !bytes.Equal(ours[at-8:at-4], ours[at-4:at]) {
		t.Errorf("expected the file that x/crypto makes, got %q", p.private)
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

func TestAKeyThatIsOfNoUseIsToldWithWhatToWrite(t *testing.T) {
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(mustRaw(t, key(t, "old")), "", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ text, want string }{
		"no key":       {"not a key", "it is no private key (ssh: no key found); write one as ssh-keygen -t ed25519 makes it"},
		"a public key": {key(t, "old").public, "it is no private key"},
		"half a key":   {string(key(t, "old").private)[:200], "it is no private key"},
		"locked":       {string(pem.EncodeToMemory(locked)), "it is locked by a passphrase"},
		"dsa":          {dsaKey(t), "it is a DSA key, which no sshd accepts any more"},
	} {
		t.Run(name, func(t *testing.T) {
			p, why := parsePair(test.text)
			if p != nil || !strings.HasPrefix(why, test.want) {
				t.Errorf("expected %q, got %q", test.want, why)
			}
		})
	}
}

func mustRaw(t *testing.T, p *pair) any {
	t.Helper()
	raw, err := ssh.ParseRawPrivateKey(p.private)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// dsaKey is one of parameters too small to be of use, which are quick to make.
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
	a, err := newPair("opcrew shop/ops")
	if err != nil {
		t.Fatal(err)
	}
	b, err := newPair("opcrew shop/ops")
	if err != nil {
		t.Fatal(err)
	}
	if a.public == b.public || !strings.HasPrefix(a.public, "ssh-ed25519 ") || strings.Count(a.public, " ") != 1 {
		t.Errorf("expected two ed25519 keys without comments, got %q and %q", a.public, b.public)
	}
	// The file of a key is overwritten where it is: a shorter one would for a moment have an end too many.
	if len(a.private) != len(b.private) {
		t.Errorf("expected keys of one length, got %d and %d", len(a.private), len(b.private))
	}
}

func TestPublicKeysAreReadLineByLine(t *testing.T) {
	old, fresh := key(t, "old").public, key(t, "fresh").public
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
			keys, bad := parsePublic(test.text)
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
		"a private key alone":         {secret("privateKey", string(old.private)), "", nil},
		"with its public key":         {secret("privateKey", string(old.private), "publicKey", old.public+" me"), "", nil},
		"as Kubernetes' type has it":  {secret("ssh-privatekey", string(old.private), "ssh-publickey", old.public), "", nil},
		"as ssh's files are named":    {secret("id_ed25519", string(old.private), "id_ed25519.pub", old.public), "", nil},
		"with a public key cut short": {secret("privateKey", string(old.private), "publicKey", "ssh-rsa AAAA..."), "", nil},
		"with another's public key":   {secret("privateKey", string(old.private), "publicKey", other.public), opsv1.ReasonKeyMismatch, []string{"Secret mine, publicKey does not belong to Secret mine, privateKey", old.public}},
		"that is no key":              {secret("privateKey", "x"), opsv1.ReasonKeyUnusable, []string{"Secret mine, privateKey: it is no private key"}},
		"in a Secret without one":     {secret("other", "x"), opsv1.ReasonKeyMissing, []string{"there is no Secret mine with a private key under privateKey, ssh-privatekey"}},
		"in no Secret":                {nil, opsv1.ReasonKeyMissing, []string{"there is no Secret mine"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := referred("mine", test.data)
			if test.reason == "" {
				if got.wrong != nil || got.pair == nil || got.pair.public != old.public {
					t.Errorf("expected the pair, got %+v", got)
				}
				return
			}
			if got.pair != nil || got.wrong == nil || got.wrong.reason != test.reason {
				t.Fatalf("expected %s, got %+v", test.reason, got.wrong)
			}
			says(t, got.wrong.message, test.words...)
			if strings.Contains(got.wrong.message, "PRIVATE") {
				t.Errorf("the message has a private key in it: %s", got.wrong.message)
			}
		})
	}
}

func TestAPublicKeyWithoutItsPrivateKeyIsLetInToo(t *testing.T) {
	mine := key(t, "mine").public
	d := newDiva(1, func(d *opsv1.Diva) { d.Spec.PublicKey = mine + " me@home" })
	same(t, "further keys", []string{mine}, extra(d))
	says(t, settled(t).authorized(extra(d)), mine, key(t, "old").public)
	d.Spec.PrivateKey = string(key(t, "mine").private)
	same(t, "further keys beside a private one", []string(nil), extra(d))
}
