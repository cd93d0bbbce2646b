import { mixed, paris, type Scenario, two } from './scenario.ts';

/** Conversations whose tools know what became of a call, or may be started again, or go on outside. */
export const recoveryScenarios: readonly Scenario[] = [
  {
    name: 'tools that know what became of a call',
    turns: [mixed],
    reconciles: 'always',
    isAlwaysCompleted: true,
  },
  { name: 'tools that know only what was done', turns: [two], reconciles: 'when-done' },
  {
    name: 'two processes that ask tools what became of a call',
    turns: [paris],
    reconciles: 'always',
    processes: 2,
    isAlwaysCompleted: true,
  },
  {
    name: 'tools that are idempotent',
    turns: [mixed],
    maxAttempts: 3,
    isAlwaysCompleted: true,
  },
  { name: 'tools that are idempotent, and have two attempts', turns: [two], maxAttempts: 2 },
  {
    name: 'two processes with tools that are idempotent',
    turns: [paris],
    maxAttempts: 3,
    processes: 2,
    isAlwaysCompleted: true,
  },
  {
    name: 'tools that know only what was done, and are idempotent',
    turns: [mixed],
    reconciles: 'when-done',
    maxAttempts: 3,
    isAlwaysCompleted: true,
  },
  { name: 'a call that goes on outside', turns: [mixed], defers: 'later' },
  {
    name: 'a call that goes on outside and is done at once',
    turns: [paris],
    defers: 'later',
    isEager: true,
  },
  {
    name: 'calls that go on outside, idempotent',
    turns: [two],
    defers: 'later',
    maxAttempts: 3,
    isAlwaysCompleted: true,
  },
  { name: 'a call that goes on outside and asks', turns: [mixed], defers: 'later', asks: true },
  {
    name: 'calls that go on outside and ask, answers recorded first, run later',
    turns: [two],
    defers: 'later',
    asks: true,
    responds: true,
    maxAttempts: 3,
    isAlwaysCompleted: true,
  },
  {
    name: 'two processes that answer what a call outside asks',
    turns: [paris],
    defers: 'later',
    asks: true,
    processes: 2,
  },
  {
    name: 'calls that the client does itself',
    turns: [two],
    defers: 'client',
    isAlwaysCompleted: true,
  },
];
