import type { TimeReader } from '../../content/deadline-words.ts';
import { inertLine, inertName } from '../../content/inert-text.ts';
import {
  describeText,
  type QuestionField,
  type QuestionRequestContent,
} from '../../content/question.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { showApproval } from './ask-approval.ts';
import type { AskOptions } from './ask-in-terminal.ts';
import { showField } from './ask-question.ts';
import { type Content, Page, showCall } from './page.ts';
import { unstyled } from './styled-text.ts';

/**
 * Renders a whole request as text that is safe to print, for a mail, a log or a command of your own: the output of `askInTerminal` with
 * `linear`, without the ways to answer. Nothing is cut, and lines are not wrapped. The options of a question are listed with the ids that
 * answers call them.
 *
 * @example
 * for (const request of thread.activeRequests) console.log(renderRequest(request, { timeZone: 'Europe/Paris' }));
 */
export function renderRequest(
  request: UserInputRequest,
  { timeZone, now = Date.now }: Pick<AskOptions, 'timeZone' | 'now'> = {},
): string {
  const reader = { now: now(), timeZone };
  return renderPage((page) => {
    if (request.type === 'question-request') showQuestion(page, request, reader);
    else showApproval(page, request, { reader });
  });
}

/** Renders a whole call as text that is safe to print: its tool, and every argument as `name: value`, as in `askInTerminal`. */
export function renderCall(call: Pick<ToolCall, 'toolName' | 'input'>): string {
  return renderPage((page) => showCall(page, call));
}

function renderPage(content: Content): string {
  const page = new Page({ columns: Infinity, paint: unstyled });
  content(page);
  return page.lines.join('\n').trimEnd();
}

function showQuestion(page: Page, request: QuestionRequestContent, reader: TimeReader): void {
  for (const [at, field] of request.fields.entries()) {
    showField(page, { request, field, at, position: undefined, reader });
    if (request.fields.length > 1) page.add(`  ${inertName(field.key)}`);
    page.add(...listAnswers(field), '');
  }
}

function listAnswers(field: QuestionField): string[] {
  const { options, preselected = [], freeText, max } = field;
  const picks = options.map(({ id, label, description }) => {
    const more = description === undefined ? '' : ` (${inertLine(description)})`;
    const note = preselected.includes(id) ? ', preselected' : '';
    return `    ${inertName(id)}: ${inertLine(label)}${more}${note}`;
  });
  const several = max > 1 ? [`    at most ${max} of them`] : [];
  return [
    ...picks,
    ...several,
    ...(freeText === 'never' ? [] : [`    ${describeText(field) ?? 'a text'}`]),
  ];
}
