package app

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestUnknownVariables(t *testing.T) {
	dir := t.TempDir()
	env := "OPENAI_API_KYE=sk-1\nOPENAI_MODEL=x\nPOSTGRES_PASSWORD=y\nDISCORD_TOKEN_FILE=z\nDISCORD_TOKN_FILE=z\nFAMILIAR_MODE=chat\nFAMILLIAR_LOG=info\nDISCORD_BOT_TOKEN=z\nOPENAI_MODEL_NAME=x\nANTHROPIC_API_KEY=z\nside_model=z\n"
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(env), 0o600); err != nil {
		t.Fatal(err)
	}
	got := UnknownVariables([]string{"SEARXNG_ULR", "SEARXNG_URL", "PATH", "XDG_DATA", "FAMILIAR_DATA_FILE", "GITHUB_TOKENS"}, dir)
	want := []string{
		".env: ANTHROPIC_API_KEY is not a setting; did you mean OPENAI_API_KEY, with the address of that service in OPENAI_BASE_URL?",
		".env: DISCORD_BOT_TOKEN is not a setting; did you mean DISCORD_TOKEN?",
		".env: DISCORD_TOKN_FILE is not a setting; did you mean DISCORD_TOKEN?",
		".env: FAMILIAR_MODE is not a setting; familiar config check lists all",
		".env: FAMILLIAR_LOG is not a setting; did you mean FAMILIAR_LOG?",
		".env: OPENAI_API_KYE is not a setting; did you mean OPENAI_API_KEY?",
		".env: side_model is not a setting; did you mean SIDE_MODEL?",
		"environment: GITHUB_TOKENS is not a setting; did you mean GITHUB_TOKEN?",
		"environment: SEARXNG_ULR is not a setting; did you mean SEARXNG_URL?",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
