import { tool } from 'ai';
import { createMCPClient } from '@ai-sdk/mcp';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { scriptedModel } from 'holdpoint/testing';
import { z } from 'zod';

/* A bakery whose clerk looks up an invoice and pays it: what an app has before it knows holdpoint. */

export const question = 'Pay what we owe the mill.';
export const lastWords = 'The mill is paid.';
export const instructions = 'You are the clerk of a bakery.';

const supplierInput = z.object({ supplier: z.string() });
const paymentInput = z.object({ invoice: z.string(), euros: z.number() });
export const payment = { invoice: 'M-77', euros: 640 };

/** The model: it looks the invoice up, proposes the payment until one has been made, and says so. */
export function clerkModel() {
  return scriptedModel((messages) => {
    const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
    const said = JSON.stringify(turn);
    const id = `call-${messages.length}`;
    if (said.includes('Paid M-77')) return { text: lastWords };
    if (said.includes('denied')) return { text: 'Then I leave it.' };
    return said.includes('"findInvoice"')
      ? { calls: [{ id, name: 'payInvoice', input: payment }] }
      : { text: 'Let me see.', calls: [{ id, name: 'findInvoice', input: { supplier: 'mill' } }] };
  }).model;
}

/** Its tools, as an app defines them. `paid` lists the payments. */
export function clerkTools() {
  const paid: string[] = [];
  const tools = {
    findInvoice: tool({
      description: 'Finds the open invoice of a supplier.',
      inputSchema: supplierInput,
      execute: async () => payment,
    }),
    payInvoice: tool({
      description: 'Pays an invoice.',
      inputSchema: paymentInput,
      execute: async ({ invoice }) => {
        paid.push(invoice);
        return `Paid ${invoice}.`;
      },
    }),
  };
  return { tools, paid };
}

/** The same tools on an MCP server. `connect` makes a client of it, as each process does. */
export function clerkServer() {
  const paid: string[] = [];
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'books', version: '1.0.0' });
    const find = { inputSchema: supplierInput, annotations: { readOnlyHint: true } };
    server.registerTool('findInvoice', find, () => ({
      content: [{ type: 'text', text: JSON.stringify(payment) }],
    }));
    const pay = { inputSchema: paymentInput, annotations: { destructiveHint: true } };
    server.registerTool('payInvoice', pay, ({ invoice }) => {
      paid.push(invoice);
      return { content: [{ type: 'text', text: `Paid ${invoice}.` }] };
    });
    return server;
  });
  const connect = async () =>
    createMCPClient({
      clientName: 'books',
      transport: {
        type: 'http',
        url: 'http://books.example/mcp',
        fetch: async (url, init) => handler.fetch(new Request(url, init)),
      },
    });
  return { connect, paid };
}
