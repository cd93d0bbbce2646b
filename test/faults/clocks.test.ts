import { memoryStore } from 'holdpoint';
import { describe, expect, test, vi } from 'vitest';
import { chained, threadJsonOf } from '../support/chained.ts';
import { errorCode } from '../support/error-code.ts';
import { booked, hour, leaseMs, waitingWorld } from './slow-booking.ts';

describe('when clocks go back,', () => {
  test('a request that was recorded as expired stays closed, and its call never runs', async () => {
    const world = await waitingWorld(1_000);
    world.end.resolve();
    const late = world.agentOff(hour);
    expect(await late.run([], await late.thread('t'))).toMatchObject({ status: 'completed' });
    const early = world.agentOff(-hour);
    const thread = await early.thread('t');
    expect(await errorCode(early.run([world.paris], thread))).toBe('request-closed');
    await early.run([], thread);
    expect(thread.calls).toMatchObject([{ status: 'denied' }, { status: 'denied' }]);
    expect(booked(world)).toEqual([]);
  });

  test('an approval that was too old for the process that should run it is not taken up again', async () => {
    const world = await waitingWorld(1_000);
    world.end.resolve();
    const early = world.agentOff(-hour);
    await early.respond([world.paris, world.rome], await early.thread('t'));
    const late = world.agentOff(25 * hour);
    expect(await late.run([], await late.thread('t'))).toMatchObject({ status: 'waiting' });
    const thread = await early.thread('t');
    await early.run([world.paris, world.rome], thread).catch(() => {});
    expect(thread.calls).toMatchObject([{ status: 'waiting' }, { status: 'waiting' }]);
    expect(booked(world)).toEqual([]);
  });

  test('an answer that one process refuses as late, and another takes in time, is recorded once', async () => {
    const world = await waitingWorld(1_000);
    world.end.resolve();
    const late = world.agentOff(hour);
    const waiting = await late.thread('t');
    const { revision } = waiting;
    expect(await errorCode(late.run([world.paris, world.rome], waiting))).toBe('request-closed');
    expect(waiting.revision).toBe(revision);
    const inTime = world.agentOff(0);
    const thread = await inTime.thread('t');
    const answers = [world.paris, world.rome];
    expect(await inTime.run(answers, thread)).toMatchObject({ status: 'completed' });
    expect(await late.run(answers, waiting)).toMatchObject({ status: 'completed' });
    expect(booked(world)).toEqual(['Paris', 'Rome']);
  });

  test('revisions only grow, and a log whose times go back is read and restored as any other', async () => {
    const world = await waitingWorld();
    world.end.resolve();
    const early = world.agentOff(-hour);
    const thread = await early.thread('t');
    const { revision } = thread;
    await early.run([world.paris, world.rome], thread);
    expect(thread.revision).toBeGreaterThan(revision);
    const backwards = thread.events.map((event, index) => ({ ...event, at: event.at - index }));
    const json = threadJsonOf([chained(backwards)]);
    const elsewhere = world.world.agent({ store: memoryStore(), now: () => world.time.now });
    const restored = await elsewhere.restore(json);
    expect(restored.events).toEqual(backwards);
    expect(restored.messages).toEqual(thread.messages);
  });
});

describe('while a process whose clock is an hour', () => {
  test('ahead runs a call, nobody takes the thread, and answers are recorded for it', async () => {
    const world = await waitingWorld();
    const runner = world.agentOff(hour);
    const running = runner.run([world.paris], await runner.thread('t'));
    await world.begun;
    world.time.now += hour;
    const other = world.agentOff(-hour);
    const thread = await other.thread('t');
    expect(await errorCode(other.run('Hello?', thread))).toBe('thread-busy');
    expect(await other.run([world.rome], thread)).toMatchObject({ status: 'running' });
    expect(booked(world)).toEqual(['Paris']);
    world.end.resolve();
    expect(await running).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(booked(world)).toEqual(['Paris', 'Rome']);
  });

  test('behind runs a call, others find it in doubt and start nothing; its result and their answers count', async () => {
    const world = await waitingWorld();
    const runner = world.agentOff(-hour);
    const running = runner.run([world.paris], await runner.thread('t'));
    await world.begun;
    const other = world.agentOff(0);
    const thread = await other.thread('t');
    expect(await errorCode(other.run('Hello?', thread))).toBe('thread-indeterminate');
    expect(await other.run([world.rome], thread)).toMatchObject({ status: 'indeterminate' });
    expect(booked(world)).toEqual(['Paris']);
    world.end.resolve();
    expect(await running).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(booked(world)).toEqual(['Paris', 'Rome']);
  });

  test('ahead is dead, the others wait an hour longer, and then go on', async () => {
    const world = await waitingWorld();
    const dying = world.agentOff(hour, new Promise(() => {}));
    void dying.run([world.paris], await dying.thread('t'));
    await world.begun;
    const other = world.agentOff(0);
    const thread = await other.thread('t');
    world.time.now += leaseMs;
    expect(await other.run([world.rome], thread)).toMatchObject({ status: 'running' });
    world.time.now += hour;
    expect(await other.run([], thread)).toMatchObject({ status: 'indeterminate' });
    world.end.resolve();
    await other.settle(thread, 'c1', { status: 'failed', error: 'never heard of it' });
    expect(await other.run([], thread)).toMatchObject({ status: 'completed' });
    expect(booked(world)).toEqual(['Paris', 'Rome']);
  });
});

test('a run whose own clock goes back keeps its call to itself, and its result counts', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const world = await waitingWorld();
    const runner = world.agentOff(0);
    const running = runner.run([world.paris], await runner.thread('t'));
    await world.begun;
    world.time.now -= hour;
    const renewed = new Promise((resolve) => runner.on('run-renewed', resolve));
    await vi.advanceTimersByTimeAsync(leaseMs / 3 + 1);
    await renewed;
    const other = world.agentOff(hour);
    const thread = await other.thread('t');
    expect(await other.run([world.rome], thread)).toMatchObject({ status: 'indeterminate' });
    expect(booked(world)).toEqual(['Paris']);
    world.end.resolve();
    expect(await running).toMatchObject({ status: 'completed' });
    expect(booked(world)).toEqual(['Paris', 'Rome']);
  } finally {
    vi.useRealTimers();
  }
});
