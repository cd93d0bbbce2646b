import { createCustomAgent } from '../../agent/custom.ts';
import { findNamedTools, nameTools } from '../../agent.ts';
import type { GateOptions } from '../gate.ts';
import { readErrorText } from '../../content/app-errors.ts';
import { findOwnRule } from '../../policy/tool-approval.ts';
import type { ThreadStore } from '../../thread/thread-store.ts';
import type { RuleForAll } from './gate-rules.ts';

type RuleOptions = Parameters<RuleForAll>[0];

/** The owner of the records, and their store. */
interface ObserverOptions {
  store: ThreadStore;
  /** The name of the gate. */
  name: string;
  toolApproval: GateOptions['toolApproval'];
  report: (problem: string) => void;
}

/**
 * Makes a rule that runs each call. Before it runs a call that the rules of the gate would not have run, it records their decision: as a
 * request that is closed at once, in a thread of the agent `<name>-observed`. An answer to it would do nothing.
 */
export function makeObserver({ store, name, toolApproval, report }: ObserverOptions): RuleForAll {
  const observer = createCustomAgent({
    name: `${name}-observed`,
    store,
    step: () => ({}),
  });
  const record = async ({ toolCall }: RuleOptions, found: Finding): Promise<void> => {
    const thread = await observer.thread(`observed-${toolCall.toolCallId}`);
    const text = `${found.would}: ${toolCall.toolName} ${JSON.stringify(toolCall.input)}`;
    const { reason } = found;
    await observer.requestApproval(thread, { key: toolCall.toolCallId, text, reason });
    await observer.cancel(thread, 'Nobody was asked: the gate only observes.');
  };
  const observe = async (options: RuleOptions): Promise<'approved'> => {
    const found = await findOut(toolApproval, options);
    if (found === undefined) return 'approved';
    await record(options, found).catch((error: unknown) =>
      report(`A call of ${options.toolCall.toolName} was not recorded: ${readErrorText(error)}`),
    );
    return 'approved';
  };
  return nameTools(observe, findNamedTools(toolApproval));
}

/** The decision that the rules would have made, apart from running the call. */
interface Finding {
  would: 'Would have asked' | 'Would have been denied';
  reason?: string | undefined;
}

async function findOut(
  rules: GateOptions['toolApproval'],
  options: RuleOptions,
): Promise<Finding | undefined> {
  try {
    const status = await readStatus(rules, options);
    const type: unknown = typeof status === 'string' ? status : Reflect.get(Object(status), 'type');
    const why: unknown = Reflect.get(Object(status), 'reason');
    const reason = typeof why === 'string' ? why : undefined;
    if (type === 'approved') return undefined;
    if (type === 'denied') return { would: 'Would have been denied', reason };
    const isMarked = type === 'user-approval' || (await readMark(options));
    return isMarked ? { would: 'Would have asked', reason } : undefined;
  } catch (error) {
    return {
      would: 'Would have asked',
      reason: `The approval rule failed: ${readErrorText(error)}`,
    };
  }
}

async function readStatus(
  rules: GateOptions['toolApproval'],
  options: RuleOptions,
): Promise<unknown> {
  if (typeof rules === 'function') return rules(options);
  const { toolName, toolCallId } = options.toolCall;
  const input: unknown = options.toolCall.input;
  const rule = findOwnRule(rules, toolName);
  if (typeof rule !== 'function') return rule;
  return Reflect.apply(rule, undefined, [input, { ...options, toolCallId }]);
}

/* The tool's own mark, which counts where no rule decides. */
async function readMark({ toolCall, tools, messages }: RuleOptions): Promise<boolean> {
  const { toolName, toolCallId } = toolCall;
  const input: unknown = toolCall.input;
  const mark: unknown = Reflect.get(Object(findOwnRule(tools, toolName)), 'needsApproval');
  if (typeof mark !== 'function') return mark !== false;
  return (await Reflect.apply(mark, undefined, [input, { toolCallId, messages }])) !== false;
}
