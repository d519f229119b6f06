package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// examples are shown by --help, by command.
var examples = map[string]string{
	"run": `familiar run
DISCORD_TOKEN_FILE=/run/secrets/token familiar run`,
	"chat": `familiar chat
familiar chat --character fox --model qwen3:8b
familiar chat < questions.txt`,
	"ask": `familiar ask "when did Ada Lovelace publish the first algorithm?"
echo "what is new in Go 1.26?" | familiar ask
familiar ask --trace "who won the cup?"`,
	"lookup": `familiar lookup "how high is Mont Blanc?"
familiar lookup --explain "weather in Porto tomorrow"
familiar lookup --json "how high is Mont Blanc?" | jq .summary`,
	"docs": `familiar docs "what are workspaces?"
familiar docs godoc "what are workspaces?"
familiar docs https://go.dev/doc/modules/layout`,
	"search": `familiar search lighthouse lamps
familiar search --backend wikipedia --language de Leuchtturm
familiar search --intent news --freshness week --site example.org tides`,
	"backends": `familiar backends
familiar backends --probe`,
	"fetch": `familiar fetch example.com
familiar fetch --explain https://example.com/article
familiar fetch --json https://example.com/article | jq .markdown`,
	"trace": `familiar trace
familiar trace 01M81XRD1R
familiar trace 01M81XRD1R --prompt`,
	"feedback": `familiar feedback
familiar feedback --forget example.org`,
	"memory show":    `familiar memory show --history`,
	"memory search":  `familiar memory search kitten name`,
	"memory forget":  `familiar memory forget 12 13`,
	"memory counts":  `familiar memory counts`,
	"memory export":  `familiar memory export ./memories`,
	"memory import":  `familiar memory import ./memories`,
	"changes":        `familiar changes --last 10`,
	"character new":  `familiar character new Fox`,
	"character list": `familiar character list`,
	"character show": `familiar character show fox
familiar character show fox --prompt`,
	"character check": `familiar character check
familiar character check fox`,
	"import": `familiar import seraphina.png
familiar import world.json --card seraphina
familiar import sprites.zip --card seraphina`,
	"export": `familiar export everything.jsonl
familiar export --card seraphina back.png`,
	"erase": `familiar erase --dry-run 100000000000000001
familiar erase --yes 100000000000000001`,
	"privacy export": `familiar privacy export 100000000000000001 ada.json`,
	"config check": `familiar config check
familiar config check --json | jq '.values[] | select(.source == ".env")'
familiar config check --connect`,
	"init": `familiar init
familiar init --token-file /run/secrets/token --model-url http://127.0.0.1:11434/v1 --model qwen3:8b --yes`,
	"set": `familiar set OPENAI_MODEL qwen3:8b
familiar set OPENAI_API_KEY < key.txt`,
	"doctor": `familiar doctor
familiar doctor discord database
familiar doctor --json | jq '.findings[] | select(.state != "ok")'`,
	"health": `familiar health
familiar health --live`,
	"backup":  `familiar backup familiar-2026-11-22.db`,
	"restore": `familiar restore familiar-2026-11-22.db`,
	"move": `familiar move --to postgres://familiar@127.0.0.1/familiar
familiar move --to ./data`,
	"replay": `familiar replay 01M81XRD1R
familiar replay 01M81XRD1R --live`,
	"mcp": `familiar mcp`,
	"completion": `familiar completion bash > ~/.local/share/bash-completion/completions/familiar
familiar completion fish > ~/.config/fish/completions/familiar.fish`,
	"man":     `familiar man | man -l -`,
	"version": `familiar version`,
	"help":    `familiar help ask`,
}

func showExamples(model *kong.Application) {
	for _, node := range model.Leaves(false) {
		if text := examples[commandPath(node)]; text != "" {
			node.Detail = "Examples:\n\n\t" + strings.ReplaceAll(text, "\n", "\n\t")
		}
	}
}

type versionCommand struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// Run prints the version.
func (v versionCommand) Run(_ context.Context, p *program) error {
	text := versionWords()
	if v.JSON {
		var err error
		if text, err = asJSON(versionFacts()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(p.out, text)
	return err
}

// helpCommand stands for --help after the words that follow it: see [withoutHelp].
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command to explain."`
}

// withoutHelp turns "help ask" into "ask --help".
func withoutHelp(args []string) []string {
	if len(args) == 0 {
		return []string{"--help"}
	}
	if args[0] != "help" || len(args) > 1 && strings.HasPrefix(args[1], "-") {
		return args
	}
	return append(args[1:len(args):len(args)], "--help")
}
