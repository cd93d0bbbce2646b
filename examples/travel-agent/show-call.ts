import { type ApprovalRequestContent, inertText, type ToolCallRecord } from 'holdpoint';
import { z } from 'zod';
import { bold, faint } from './terminal.ts';

const argumentsSchema = z.record(z.string(), z.unknown());

/** What a person is asked, as lines: who asks, the call with each argument, and why. */
export function approvalLines({ text, reason, toolCall }: ApprovalRequestContent): string[] {
  return [
    '',
    `${bold('The travel agent asks:')} ${inertText(text)}`,
    ...(toolCall === undefined ? [] : callLines(toolCall.toolName, toolCall.input)),
    ...(reason === undefined ? [] : [`  Why: ${inertText(reason)}`]),
  ];
}

/** A call on one line. */
export function callLine({ toolName, input }: { toolName: string; input?: unknown }): string {
  return inertText(`${toolName} ${JSON.stringify(input)}`);
}

/** What became of a call, as lines. */
export function resultLines(call: ToolCallRecord): string[] {
  return [faint(`  ${callLine(call)}`), faint(`    → ${resultOf(call)}`)];
}

function resultOf({ outcome }: ToolCallRecord): string {
  switch (outcome?.status) {
    case 'succeeded':
      return shortened(JSON.stringify(outcome.output));
    case 'failed':
      return `failed: ${shortened(outcome.error)}`;
    default:
      return 'not run';
  }
}

/* Cut before it is made inert, so that no escape is cut in two. */
function shortened(text: string): string {
  return text.length > 90 ? `${inertText(text.slice(0, 90))}…` : inertText(text);
}

function callLines(toolName: string, input: unknown): string[] {
  const parsed = argumentsSchema.safeParse(input);
  if (!parsed.success) return [`  ${callLine({ toolName, input })}`];
  const rows = Object.entries(parsed.data).map(([name, value]) => ({
    name: inertText(name),
    value: inertText(JSON.stringify(value)),
  }));
  const width = Math.max(0, ...rows.map(({ name }) => name.length));
  return [
    `  ${bold(inertText(toolName))}`,
    ...rows.map(({ name, value }) => `    ${name.padEnd(width)}  ${value}`),
  ];
}
