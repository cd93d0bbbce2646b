import { mixed, paris, type Scenario, two } from './scenario.ts';

const twoTurns = [paris, { message: 'And Rome', calls: [['book', 'Rome']] }] as const;

/** Conversations with somebody beside the client: a scheduler, a bystander, another agent, an operator who deletes. */
export const fleetScenarios: readonly Scenario[] = [
  { name: 'messages with ids, sent until there is a reply', turns: twoTurns, hasIds: true },
  {
    name: 'messages with ids, and two processes that answer',
    turns: [paris],
    hasIds: true,
    processes: 2,
  },
  {
    name: 'a provider that fails, and a scheduler that wakes the thread when it is due',
    turns: [mixed],
    fails: 2,
  },
  {
    name: 'a provider that fails until the thread is stuck, and a message that gets it going',
    turns: twoTurns,
    fails: 2,
    maxFailures: 2,
    settles: true,
    isAlwaysCompleted: true,
  },
  {
    name: 'a bystander who opens the thread after each crash',
    turns: [mixed],
    besides: 'a bystander who opens the thread',
  },
  {
    name: 'a bystander who opens the thread, whose tools are idempotent',
    turns: [mixed],
    maxAttempts: 3,
    besides: 'a bystander who opens the thread',
    isAlwaysCompleted: true,
  },
  {
    name: 'an agent that adopts the thread while it waits',
    turns: [two],
    adopts: 'while it waits',
  },
  {
    name: 'an agent that adopts the thread after a crash',
    turns: [mixed],
    adopts: 'after a crash',
    settles: true,
    isAlwaysCompleted: true,
  },
  {
    name: 'somebody who deletes the thread after a crash',
    turns: [mixed],
    besides: 'somebody who deletes the thread, once',
  },
];
