import { tool } from 'ai';
import { createAgent } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { agentTool } from 'holdpoint/tools';
import { createUiHandler } from 'holdpoint/ui';
import { z } from 'zod';

/** Prepares what a person's answer sets in motion. `begin` plays it, and calls `end` where the flow ends. */
export type Flow = () => Promise<{ begin: (end: () => void) => Promise<void> }>;

const call = { id: 'call-1', name: 'pay', input: { to: 'ACME', euros: 420 } };

/** README's example with its memory store, until it waits for an answer. */
async function askToPay(status: 'user-approval' | { type: 'user-approval'; quorum: number }) {
  const pay = tool({
    description: 'Pays an invoice.',
    inputSchema: z.object({ to: z.string(), euros: z.number() }),
    execute: async ({ to, euros }) => `Paid ${euros} EUR to ${to}.`,
  });
  const { model } = scriptedModel([{ calls: [call] }, { text: 'I have paid ACME.' }]);
  const agent = createAgent({ model, tools: { pay }, toolApproval: { pay: status } });
  const thread = await agent.thread('invoices');
  const { approvalRequests } = await agent.run('Pay the invoice from ACME.', thread);
  return { agent, thread, answers: approvalRequests.map((request) => request.approve()) };
}

async function answerUntilCallEnded() {
  const { agent, thread, answers } = await askToPay('user-approval');
  const begin = async (end: () => void) => {
    agent.on('call-ended', end);
    await agent.run(answers, thread);
  };
  return { begin };
}

async function voteFirst() {
  const { agent, thread, answers } = await askToPay({ type: 'user-approval', quorum: 2 });
  const begin = async (end: () => void) => {
    await agent.respond(answers, thread, { principal: 'ada' });
    end();
  };
  return { begin };
}

async function approveOnPage() {
  const { agent, answers } = await askToPay('user-approval');
  const handler = createUiHandler({ agent, authorize: () => ({ principal: 'ada' }) });
  const body = JSON.stringify({ id: 'invoices', answers });
  const headers = { 'content-type': 'application/json' };
  const begin = async (end: () => void) => {
    const sent = new Request('http://page.test/chat', { method: 'POST', headers, body });
    const response = await handler(sent);
    const text = await response.text();
    if (!text.includes('"finishReason":"stop"')) throw new Error(text);
    end();
  };
  return { begin };
}

async function approveForSubAgent() {
  const pay = tool({
    inputSchema: z.object({ to: z.string(), euros: z.number() }),
    execute: async ({ to, euros }) => `Paid ${euros} EUR to ${to}.`,
  });
  const payer = createAgent({
    name: 'payer',
    model: scriptedModel([{ calls: [call] }, { text: 'I have paid ACME.' }]).model,
    tools: { pay },
    toolApproval: { pay: 'user-approval' },
  });
  const delegated = { id: 'call-0', name: 'payer', input: { prompt: 'Pay the invoice.' } };
  const agent = createAgent({
    name: 'clerk',
    model: scriptedModel([{ calls: [delegated] }, { text: 'The payer has paid ACME.' }]).model,
    tools: { payer: agentTool(payer, { description: 'Pays invoices.' }) },
  });
  const thread = await agent.thread('invoices');
  const { approvalRequests } = await agent.run('Pay the invoice from ACME.', thread);
  if (approvalRequests.length !== 1) throw new Error('The sub-agent did not ask');
  const answers = approvalRequests.map((request) => request.approve());
  const begin = async (end: () => void) => {
    const { text } = await agent.run(answers, thread);
    if (text !== 'The payer has paid ACME.') throw new Error(`The sub-agent did not pay: ${text}`);
    end();
  };
  return { begin };
}

export const flows: ReadonlyMap<string, Flow> = new Map([
  ['an answer until `call-ended`', answerUntilCallEnded],
  ['first vote of a quorum', voteFirst],
  ['an approval on the page, its streamed reply', approveOnPage],
  ["a sub-agent's approval", approveForSubAgent],
]);
