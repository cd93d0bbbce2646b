import { createMCPClient } from '@ai-sdk/mcp';
import { createMcpHandler, McpServer, type ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** How the server says that a call failed: with a picture, and two texts. */
function refusal(path: string) {
  const image = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' };
  const texts = [`${path} is locked.`, 'Nothing was done.'].map((text) => ({
    type: 'text' as const,
    text,
  }));
  return { content: [...texts, image], isError: true };
}

/** A real MCP server of files, in memory: its tools by name, with their annotations, and the calls that reached it. */
export class FileServer {
  readonly called: string[] = [];
  readonly #annotations: Record<string, ToolAnnotations | undefined>;

  constructor(annotations: Record<string, ToolAnnotations | undefined>) {
    this.#annotations = annotations;
  }

  /** The server's tools, as an AI SDK client of it makes them. */
  async tools(client: { clientName?: string }) {
    const handler = createMcpHandler(() => this.#server());
    const connected = await createMCPClient({
      ...client,
      transport: {
        type: 'http',
        url: 'http://files.example/mcp',
        fetch: async (url, init) => handler.fetch(new Request(url, init)),
      },
    });
    return connected.tools();
  }

  #server(): McpServer {
    const server = new McpServer({ name: 'trusted', version: '1.0.0' });
    for (const [name, annotations] of Object.entries(this.#annotations)) {
      const config = {
        description: `${name} of a file`,
        inputSchema: z.object({ path: z.string() }),
      };
      const hints = annotations === undefined ? {} : { annotations };
      server.registerTool(name, { ...config, ...hints }, ({ path }) => {
        this.called.push(`${name} ${path}`);
        if (path.startsWith('locked')) return refusal(path);
        return { content: [{ type: 'text', text: `${name} ${path}: done` }] };
      });
    }
    return server;
  }
}
