/** The clients that `--print-config` knows. */
export const gateClients = ['claude-code', 'codex', 'cursor', 'vscode'] as const;

/** The entry through which a client reaches the gate. */
export type GateEntry =
  | { command: string; args: readonly string[] }
  | { url: string; headers: Readonly<Record<string, string>> };

/** The configuration to paste for a client, and its place. */
interface ClientConfig {
  text: string;
  note: string;
}

/** Makes the configuration of a client for a gate under this name. */
export function makeClientConfig(
  client: (typeof gateClients)[number],
  name: string,
  entry: GateEntry,
): ClientConfig {
  const type = 'url' in entry ? 'http' : 'stdio';
  switch (client) {
    case 'claude-code':
      return {
        text: toJson({ mcpServers: { [name]: { type, ...entry } } }),
        note: 'Paste it into .mcp.json of the project. To allow this server alone, start: claude --strict-mcp-config --mcp-config <file>',
      };
    case 'codex':
      return {
        text: makeToml(name, entry),
        note: 'Paste it into ~/.codex/config.toml. With required = true, Codex does not start without the gate.',
      };
    case 'cursor':
      return {
        text: toJson({ mcpServers: { [name]: entry } }),
        note: 'Paste it into .cursor/mcp.json of the project, or ~/.cursor/mcp.json. Remove the servers behind the gate there.',
      };
    case 'vscode':
      return {
        text: toJson({ servers: { [name]: { type, ...entry } } }),
        note: 'Paste it into .vscode/mcp.json of the project. Remove the servers behind the gate there.',
      };
  }
}

function toJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

/* Texts of JSON are texts of TOML. */
function makeToml(name: string, entry: GateEntry): string {
  const reached =
    'url' in entry
      ? [`url = ${JSON.stringify(entry.url)}`, `http_headers = ${toTomlTable(entry.headers)}`]
      : [`command = ${JSON.stringify(entry.command)}`, `args = ${JSON.stringify(entry.args)}`];
  return [
    `[mcp_servers.${name}]`,
    ...reached,
    'required = true',
    'startup_timeout_sec = 30',
    'tool_timeout_sec = 120',
  ].join('\n');
}

function toTomlTable(values: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(values).map(
    ([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value)}`,
  );
  return `{ ${pairs.join(', ')} }`;
}
