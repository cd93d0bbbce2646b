import { type Agent, approve, type ApprovalRequest, HoldpointError } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createUiHandler } from 'holdpoint/ui';
import { type HeldModel, ofThread, ways } from '../middleware/held-world.ts';

/** How people talk to one agent. What the provider or the agent refuses is in what comes back, and not thrown. */
interface PeoplesChannel {
  /** Somebody says something in thread `t`. */
  say(principal: unknown, text: string): Promise<void>;
  /** Somebody approves a request, perhaps with another input; the code with which that is refused, if it is. */
  approve(
    principal: unknown,
    request: ApprovalRequest,
    change?: { input: unknown },
  ): Promise<string | undefined>;
}

/** Makes a channel to an agent, and to the model that stands for it behind `holdPoint`. */
type OpenChannel = (held: { agent: Agent; model: HeldModel }) => PeoplesChannel;

const plain: OpenChannel = ({ agent }) => ({
  async say(principal, text) {
    await codeOf(agent.run(text, await agent.thread('t'), { principal }));
  },
  async approve(principal, request, change) {
    return codeOf(agent.run(approve(request, change), await agent.thread('t'), { principal }));
  },
});

const middleware: OpenChannel = ({ model }) => {
  const [way] = ways;
  const call = async (principal: unknown, content: string, answers: object = {}) =>
    codeOf(
      way?.ask({
        model,
        messages: [{ role: 'user', content }],
        ...ofThread('t', { principal, ...answers }),
      }),
    );
  let last = '';
  return {
    async say(principal, text) {
      last = text;
      await call(principal, text);
    },
    approve: async (principal, request, change) =>
      call(principal, last, { answers: [approve(request, change)] }),
  };
};

const page: OpenChannel = ({ agent }) => {
  let said = 0;
  const send = async (principal: unknown, body: object): Promise<string> => {
    const handler = createUiHandler({ agent, authorize: () => ({ principal }) });
    return (await handler(post({ id: 't', ...body }))).text();
  };
  return {
    async say(principal, text) {
      said += 1;
      const message = { id: `m${said}`, role: 'user', parts: [{ type: 'text', text }] };
      await send(principal, { message });
    },
    approve: async (principal, request, change) =>
      refusalIn(await send(principal, { answers: [approve(request, change)] })),
  };
};

const agUi: OpenChannel = ({ agent }) => {
  let said = 0;
  const send = async (principal: unknown, input: object): Promise<string> => {
    const handler = createAgUiHandler({ agent, authorize: () => ({ principal }), keepAliveMs: 0 });
    const run = { threadId: 't', runId: `r${said}`, protocolVersion: '1.0' };
    const empty = { messages: [], tools: [], context: [] };
    return (await handler(post({ ...run, ...empty, ...input }))).text();
  };
  return {
    async say(principal, text) {
      said += 1;
      await send(principal, { messages: [{ id: `m${said}`, role: 'user', content: text }] });
    },
    async approve(principal, { requestId: interruptId, digest }, change) {
      const payload = { approved: true, digest, ...change };
      const resume = [{ interruptId, status: 'resolved', payload }];
      return refusalIn(await send(principal, { resume }));
    },
  };
};

/** Every channel by which two people may share a thread. */
export const peoplesChannels: { name: string; open: OpenChannel }[] = [
  { name: 'agent.run', open: plain },
  { name: 'holdPoint', open: middleware },
  { name: 'the route of a page', open: page },
  { name: 'AG-UI', open: agUi },
];

function post(body: object): Request {
  const headers = { 'content-type': 'application/json' };
  return new Request('http://site.test/', { method: 'POST', headers, body: JSON.stringify(body) });
}

async function codeOf(work: Promise<unknown> | undefined): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return HoldpointError.isInstance(error) ? error.code : 'failed';
  }
}

function refusalIn(text: string): string | undefined {
  return ['not-allowed', 'invalid-answer', 'request-closed'].find((code) => text.includes(code));
}
