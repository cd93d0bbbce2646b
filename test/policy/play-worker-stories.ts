import { dynamicTool, jsonSchema, tool, type ToolSet } from 'ai';
import {
  type Agent,
  type AgentOptions,
  type ApprovalRequestContent,
  createAgent,
  type MayAnswer,
  type SettingFailure,
  type ThreadStore,
  type ToolApprovalStatus,
} from 'holdpoint';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import type { ServedKit } from '../support/every-store.ts';
import { continuations } from '../support/idle-workers.ts';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { answeredBy } from './office.ts';

const refund = (id: string, euros: unknown): ScriptedStep => ({
  calls: [{ id, name: 'refund', input: { euros } }],
});
const done: ScriptedStep = { text: 'Done.' };
const overloaded: ScriptedStep = { fail: 'overloaded' };

interface ShopOptions extends Partial<AgentOptions> {
  /** Makes the tool, which records its inputs. */
  toolOf?: (paid: unknown[]) => ToolSet[string];
}

function refundTool(paid: unknown[]) {
  return tool({
    description: 'Refunds.',
    inputSchema: z.object({ euros: z.number() }),
    execute: async (input) => {
      paid.push(input);
      return 'Refunded.';
    },
  });
}

/** The same tool as a server describes it, with a JSON Schema. */
function serverTool(paid: unknown[]) {
  return dynamicTool({
    description: 'Refunds.',
    inputSchema: jsonSchema({
      type: 'object',
      properties: { euros: { type: 'number' } },
      required: ['euros'],
    }),
    execute: async (input) => {
      paid.push(input);
      return 'Refunded.';
    },
  });
}

/** A shop whose agent people talk to in one process, answer in others, and which workers continue. */
function shop(open: () => ThreadStore, script: ScriptedStep[], options: ShopOptions) {
  const { toolOf = refundTool, ...more } = options;
  const { model } = scriptedModel(script);
  const clock = { now: 1_800_000_000_000 };
  const paid: unknown[] = [];
  const failures: SettingFailure[] = [];
  const startProcess = (): { agent: Agent; store: ThreadStore } => {
    const store = open();
    const agent = createAgent({
      name: 'shop',
      model,
      tools: { refund: toolOf(paid) },
      store,
      now: () => clock.now,
      maxRetries: 0,
      ...more,
    });
    agent.on('setting-failed', (failure) => failures.push(failure));
    return { agent, store };
  };
  const openThread = async ({ agent } = startProcess()) => ({
    agent,
    thread: await agent.thread('t'),
  });
  const observer = startProcess();
  return {
    clock,
    paid,
    failures,
    startProcess,
    openThread,
    /** Somebody says something; the provider may fail. */
    async say(principal: string, text: string): Promise<void> {
      const { agent, thread } = await openThread();
      await agent.run(text, thread, { principal }).catch(() => undefined);
    },
    /** What is asked. */
    async shown(): Promise<ApprovalRequestContent> {
      const [request, ...others] = (await openThread(observer)).thread.activeApprovalRequests;
      if (request === undefined || others.length > 0) throw new Error('Not one is asked.');
      return request;
    },
    /** Somebody answers, and the process runs nothing. */
    async respond(principal: string, answer: Parameters<Agent['respond']>[0]): Promise<unknown> {
      const { agent, thread } = await openThread();
      return errorCode(agent.respond(answer, thread, { principal }));
    },
    /** How far the log is. */
    async revision(): Promise<number> {
      return (await openThread(observer)).thread.revision;
    },
    /** The time comes at which workers try again. */
    async waitForRetry(): Promise<void> {
      const { nextDeadline } = (await openThread(observer)).thread;
      if (nextDeadline === undefined) throw new Error('Nothing is tried again.');
      clock.now = nextDeadline;
    },
  };
}

const limits: Record<string, number> = { jo: 50, ada: 10_000, ben: 10_000, cleo: 10_000 };
const withinLimit: MayAnswer = ({ principal, request }) =>
  request.type === 'approval-request' &&
  Number(Object(request.toolCall?.input).euros) <= (limits[String(principal)] ?? 0);

const text = ({ euros }: { euros: number }): string => `Refund ${euros} EUR?`;
const editable = { type: 'user-approval', editable: true, text } as const;
const byAmount = ({ euros }: { euros: number }): ToolApprovalStatus<{ euros: number }> => ({
  ...editable,
  approvers: [euros > 1_000 ? 'managers' : 'owners'],
});
const others = { type: 'user-approval', notRequester: true } as const;
const remembered = {
  type: 'user-approval',
  remember: { scope: 'principal', match: 'any' },
} as const;
/* A rule as a function: only its call shows whom it names. */
const byFunction = { refund: () => ({ type: 'user-approval', approvers: ['owners'] }) as const };

/** People and workers share a thread that is kept in such a store. */
export function playWorkerStories(kits: readonly ServedKit[]): void {
  beforeEach(() => {
    vi.spyOn(console, 'warn').mockReturnValue();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const cases = kits.flatMap(({ name, start }) =>
    continuations.map(({ name: how, proceed }) => ({ name, how, start, proceed })),
  );

  describe.each(cases)('$name, continued by $how:', ({ start, proceed }) => {
    test('Ada edits to 5,000, for which the rule asks somebody else; Ben sees that, and exactly that runs', async () => {
      using kept = await start();
      const at = shop(kept.open, [refund('c1', 50), done], {
        toolApproval: { refund: byAmount },
        mayAnswer: answeredBy({ owners: ['ada'], managers: ['ben'] }),
      });
      await at.say('eve', 'Refund it.');
      const input = { euros: 5_000 };
      const first = await at.shown();
      expect(await at.respond('ada', first.approve({ input }))).toBe('no error');
      await proceed(at.startProcess, 't');
      expect(at.paid).toEqual([]);
      const next = await at.shown();
      expect(next).toMatchObject({ text: 'Refund 5000 EUR?', toolCall: { input } });
      expect(next.requestId).not.toBe(first.requestId);
      expect(await at.respond('ada', next.approve())).toBe('not-allowed');
      const asked = await at.revision();
      await proceed(at.startProcess, 't');
      expect(await at.revision()).toBe(asked);
      expect(await at.respond('ben', next.approve())).toBe('no error');
      expect(at.paid).toEqual([]);
      await proceed(at.startProcess, 't');
      expect(at.paid).toEqual([input]);
      expect((await at.openThread()).thread).toMatchObject({
        status: 'idle',
        calls: [{ input, edit: { original: { euros: 50 }, person: 'ada' }, status: 'succeeded' }],
      });
    });

    test('Jo, who may approve up to 50, neither edits to 5,000 nor approves what Ada has edited to it; Cleo does', async () => {
      using kept = await start();
      const at = shop(kept.open, [refund('c1', 50), done], {
        toolApproval: { refund: { ...editable, quorum: 2 } },
        mayAnswer: withinLimit,
      });
      await at.say('eve', 'Refund it.');
      const input = { euros: 5_000 };
      expect(await at.respond('jo', (await at.shown()).approve({ input }))).toBe('not-allowed');
      expect(await at.respond('ada', (await at.shown()).approve({ input }))).toBe('no error');
      const edited = await at.shown();
      expect(edited).toMatchObject({ text: 'Refund 5000 EUR?', toolCall: { input } });
      const recorded = await at.revision();
      for (const change of [{}, { input: { euros: 7 } }]) {
        expect(await at.respond('jo', edited.approve(change))).toBe('not-allowed');
      }
      await proceed(at.startProcess, 't');
      expect(at.paid).toEqual([]);
      expect(await at.revision()).toBe(recorded);
      expect(await at.respond('cleo', edited.approve())).toBe('no error');
      await proceed(at.startProcess, 't');
      expect(at.paid).toEqual([input]);
    });

    test("Ben's edit that does not fit a JSON Schema is refused before a worker sees it, and what the model sends so fails", async () => {
      using kept = await start();
      const at = shop(kept.open, [refund('c1', 50), refund('c2', { $gt: 0 }), done], {
        toolOf: serverTool,
        toolApproval: { refund: { type: 'user-approval', editable: true } },
      });
      await at.say('ada', 'Refund it.');
      const request = await at.shown();
      const asked = await at.revision();
      for (const input of [{ euros: { $gt: 0 } }, {}, null]) {
        expect(await at.respond('ben', { ...request.approve(), input })).toBe('invalid-answer');
      }
      await proceed(at.startProcess, 't');
      expect(await at.revision()).toBe(asked);
      expect(await at.respond('ben', request.approve({ input: { euros: 40 } }))).toBe('no error');
      await proceed(at.startProcess, 't');
      expect(at.paid).toEqual([{ euros: 40 }]);
      const error = expect.stringContaining('field "euros"');
      expect((await at.openThread()).thread).toMatchObject({
        status: 'idle',
        activeRequests: [],
        calls: [{ status: 'succeeded' }, { outcome: { status: 'failed', error } }],
      });
    });

    test("the provider failed for Ada's message and Ben's hello: a retry asks for both, and neither may approve", async () => {
      using kept = await start();
      const at = shop(kept.open, [overloaded, overloaded, refund('c1', 50), done], {
        toolApproval: { refund: others },
      });
      await at.say('ada', 'Refund it to me');
      await at.say('ben', 'hello');
      await at.waitForRetry();
      await proceed(at.startProcess, 't');
      const request = await at.shown();
      expect(request).toMatchObject({ requestedBy: 'ben', requesters: ['ada', 'ben'] });
      for (const principal of ['ada', 'ben', 'ADA']) {
        expect(await at.respond(principal, request.approve())).toBe('not-allowed');
      }
      const asked = await at.revision();
      await proceed(at.startProcess, 't');
      expect(await at.revision()).toBe(asked);
      expect(await at.respond('cy', request.approve())).toBe('no error');
      await proceed(at.startProcess, 't');
      expect(at.paid).toEqual([{ euros: 50 }]);
    });

    test.each([
      ['hers alone', ['ada'], true],
      ["Ben's, and she has said hello since", ['ben', 'ada'], false],
      ['hers, and Ben has said hello since', ['ada', 'ben'], false],
      ["Ben's alone", ['ben'], false],
    ] as const)(
      "Ada's standing approval serves a message that is tried again if it is %s",
      async (_whose, people, isServed) => {
        using kept = await start();
        const failed = people.map(() => overloaded);
        const script = [refund('c1', 50), done, ...failed, refund('c2', 60), done];
        const at = shop(kept.open, script, { toolApproval: { refund: remembered } });
        await at.say('ada', 'Refund 50');
        const yes = (await at.shown()).approve({ remember: true });
        expect(await at.respond('cy', yes)).toBe('no error');
        await proceed(at.startProcess, 't');
        expect(at.paid).toEqual([{ euros: 50 }]);
        for (const person of people) await at.say(person, 'Refund 60, or hello');
        await at.waitForRetry();
        await proceed(at.startProcess, 't');
        expect(at.paid).toEqual(isServed ? [{ euros: 50 }, { euros: 60 }] : [{ euros: 50 }]);
        const { activeRequests } = (await at.openThread()).thread;
        expect(activeRequests).toMatchObject(isServed ? [] : [{ requesters: people }]);
      },
    );

    test('ada@x and Ada@X are one vote of two, for which no worker resumes anything', async () => {
      using kept = await start();
      const at = shop(kept.open, [refund('c1', 50), done], {
        toolApproval: { refund: { type: 'user-approval', quorum: 2 } },
      });
      await at.say('eve', 'Refund it.');
      expect(await at.respond('ada@x', (await at.shown()).approve())).toBe('no error');
      const voted = await at.revision();
      for (const spelling of ['Ada@X', 'ada@x ', 'ada\u200B@x']) {
        const { agent, thread } = await at.openThread();
        const again = agent.respond((await at.shown()).approve(), thread, { principal: spelling });
        expect(await errorCode(again)).toBe('not-allowed');
        await expect(again).rejects.toThrow(/ada@x.*principalId/is);
      }
      await proceed(at.startProcess, 't');
      expect(at.paid).toEqual([]);
      expect(await at.revision()).toBe(voted);
      expect(await at.shown()).toMatchObject({ votes: [{ person: 'ada@x' }] });
      expect(await at.respond('ben@x', (await at.shown()).approve())).toBe('no error');
      await proceed(at.startProcess, 't');
      expect(at.paid).toEqual([{ euros: 50 }]);
    });

    test('a request that nobody could answer, decided on by a worker, is a failed call with the reason, and reported there', async () => {
      using kept = await start();
      const at = shop(kept.open, [overloaded, refund('c1', 50), done], {
        toolApproval: byFunction,
      });
      await at.say('ada', 'Refund it.');
      await at.waitForRetry();
      expect(at.failures).toEqual([]);
      await proceed(at.startProcess, 't');
      const error = expect.stringContaining('no mayAnswer');
      expect((await at.openThread()).thread).toMatchObject({
        status: 'idle',
        activeRequests: [],
        calls: [{ outcome: { status: 'failed', error } }],
      });
      expect(at.paid).toEqual([]);
      expect(at.failures).toMatchObject([
        { threadId: 't', setting: 'toolApproval.refund', kind: 'unanswerable' },
      ]);
      expect(String(vi.mocked(console.warn).mock.calls)).toContain('no mayAnswer');
    });
  });
}
