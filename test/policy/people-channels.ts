import {
  type Agent,
  approve,
  type ApprovalRequest,
  type ApprovalResponseContent,
  HoldpointError,
  reject,
} from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createUiHandler } from 'holdpoint/ui';
import { type HeldModel, ofThread, ways } from '../middleware/held-world.ts';

/** What an answer says besides yes or no. */
interface Change {
  input?: unknown;
  remember?: true;
}

/** How people talk to one agent. What the provider or the agent refuses is in what comes back, and not thrown. */
interface PeoplesChannel {
  /** Somebody says something in thread `t`. */
  say(principal: unknown, text: string): Promise<void>;
  /** Somebody approves a request, perhaps with another input; the code with which that is refused, if it is. */
  approve(
    principal: unknown,
    request: ApprovalRequest,
    change?: Change,
  ): Promise<string | undefined>;
  /** Somebody rejects a request; the code with which that is refused, if it is. */
  reject(
    principal: unknown,
    request: ApprovalRequest,
    change?: Pick<Change, 'remember'>,
  ): Promise<string | undefined>;
  /** Somebody says something that cancels the open requests; the code with which that is refused, if it is. */
  interrupt(principal: unknown, text: string, open: ApprovalRequest): Promise<string | undefined>;
}

/** Makes a channel to an agent, and to the model that stands for it behind `holdPoint`. */
type OpenChannel = (held: { agent: Agent; model: HeldModel }) => PeoplesChannel;

/** The two answers, for a channel that takes them as content. */
function answeringBy(
  send: (principal: unknown, answer: ApprovalResponseContent) => Promise<string | undefined>,
): Pick<PeoplesChannel, 'approve' | 'reject'> {
  return {
    approve: async (principal, request, change) => send(principal, approve(request, change)),
    reject: async (principal, request, change) => send(principal, reject(request, change)),
  };
}

const plain: OpenChannel = ({ agent }) => ({
  async say(principal, text) {
    await codeOf(agent.run(text, await agent.thread('t'), { principal }));
  },
  ...answeringBy(async (principal, answer) =>
    codeOf(agent.run(answer, await agent.thread('t'), { principal })),
  ),
  async interrupt(principal, text) {
    const options = { principal, whilePending: 'cancel' } as const;
    return codeOf(agent.run(text, await agent.thread('t'), options));
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
    ...answeringBy(async (principal, answer) => call(principal, last, { answers: [answer] })),
    interrupt: async (principal, text) => call(principal, text, { whilePending: 'cancel' }),
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
    ...answeringBy(async (principal, answer) =>
      refusalIn(await send(principal, { answers: [answer] })),
    ),
    async interrupt(principal, text) {
      said += 1;
      const message = { id: `m${said}`, role: 'user', parts: [{ type: 'text', text }] };
      return refusalIn(await send(principal, { message, whilePending: 'cancel' }));
    },
  };
};

/** `interrupting` is what a client sends with a message to cancel a request. */
const agUi =
  (interrupting: (open: ApprovalRequest) => object): OpenChannel =>
  ({ agent }) => {
    let said = 0;
    const send = async (principal: unknown, input: object): Promise<string> => {
      const handler = createAgUiHandler({
        agent,
        authorize: () => ({ principal }),
        keepAliveMs: 0,
      });
      const run = { threadId: 't', runId: `r${said}`, protocolVersion: '1.0' };
      const empty = { messages: [], tools: [], context: [] };
      return (await handler(post({ ...run, ...empty, ...input }))).text();
    };
    const resume = async (
      principal: unknown,
      { requestId: interruptId, digest }: ApprovalRequest,
      approved: boolean,
      change: Change = {},
    ): Promise<string | undefined> => {
      const payload = { approved, digest, ...change };
      return refusalIn(
        await send(principal, { resume: [{ interruptId, status: 'resolved', payload }] }),
      );
    };
    return {
      async say(principal, text) {
        said += 1;
        await send(principal, { messages: [{ id: `m${said}`, role: 'user', content: text }] });
      },
      approve: async (principal, request, change) => resume(principal, request, true, change),
      reject: async (principal, request, change) => resume(principal, request, false, change),
      async interrupt(principal, text, open) {
        said += 1;
        const messages = [{ id: `m${said}`, role: 'user', content: text }];
        return refusalIn(await send(principal, { messages, ...interrupting(open) }));
      },
    };
  };

/** Every channel by which two people may share a thread. */
export const peoplesChannels: { name: string; open: OpenChannel }[] = [
  { name: 'agent.run', open: plain },
  { name: 'holdPoint', open: middleware },
  { name: 'the route of a page', open: page },
  { name: 'AG-UI', open: agUi(() => ({ forwardedProps: { whilePending: 'cancel' } })) },
  {
    name: 'AG-UI, with the interrupt cancelled',
    open: agUi(({ requestId }) => ({
      resume: [{ interruptId: requestId, status: 'cancelled' }],
    })),
  },
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
  return ['not-allowed', 'invalid-answer', 'request-closed', 'already-answered'].find((code) =>
    text.includes(code),
  );
}
