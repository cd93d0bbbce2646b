import { describeDeadline, type TimeReader } from '../../content/deadline-words.ts';
import { inertLine, inertName, inertText } from '../../content/inert-text.ts';
import { isObject } from '../../json/json-value.ts';
import { lookAlikeWarnings } from '../../content/look-alikes.ts';
import { findInputMode } from '../../json/field-schema.ts';
import { describeText, type QuestionField } from '../../content/question.ts';
import type { RequestRights } from '../../content/request-rights.ts';
import { renderAsker, renderTerms } from '../../content/request-text.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { type FilledForm, optionName, textName } from './answer-form.ts';
import { type Html, html, nothing } from './html.ts';

/** A request as one person sees it. */
export interface LinkedPage {
  /** Without secrets. */
  request: UserInputRequest;
  /** How many arguments are masked. */
  masked: number;
  rights: RequestRights;
  /** The person, as a line that is safe to show. */
  person: string;
  /** Whether the app demands a sign-in; otherwise whoever has the link can use it. */
  needsSignIn: boolean;
  /** When the link ends, in milliseconds since 1970. */
  endsAt: number;
  reader: TimeReader;
  /** Where people edit, if the app says where. */
  inboxUrl: string | undefined;
  /** What the form sends to show that it is the page's own. */
  code: string;
  /** What the person has filled in before, and what was wrong with it. */
  filled?: FilledForm;
  fault?: FormFault;
}

/** What is wrong with what a person has filled in: of the field of a question with this key, or of the whole. */
export interface FormFault {
  key?: string | undefined;
  text: string;
}

/** Whether the page asks once more before it approves. */
export function needsConfirmation(request: UserInputRequest): boolean {
  return request.type === 'approval-request' && request.risk === 'critical';
}

/** The request with a form that answers it. */
export function renderRequestPage(shown: LinkedPage): Html {
  const { request } = shown;
  const form = request.type === 'approval-request' ? renderDecision(shown) : renderQuestion(shown);
  return html`${renderRequest(shown)}${renderForm(shown, form)}`;
}

/** The request once more, with a form that approves it: for what has the highest risk. */
export function renderConfirmPage(shown: LinkedPage): Html {
  const form = html`<p>Its risk is critical, so you are asked once more.</p>
    ${renderReason(shown)}
    <p>
      <label
        ><input type="checkbox" name="read" value="yes" ${renderInvalid(shown)} /> I have read all
        of it, and it may happen.</label
      >
    </p>
    <p class="buttons">${renderButton('confirm', 'Approve')}<a href="?">Back</a></p>`;
  return html`${renderRequest(shown)}${renderForm(shown, form)}`;
}

function renderRequest(shown: LinkedPage): Html {
  const { request, masked, person, needsSignIn, endsAt, reader } = shown;
  const { toolCall } = request.type === 'approval-request' ? request : {};
  const warnings = lookAlikeWarnings(request);
  const warning = 'Whoever has this link can answer in this name: don’t forward it. ';
  return html`<p class="person">
      For <b>${person}</b>. ${needsSignIn ? '' : warning}It ends
      ${describeDeadline(endsAt, reader)}.
    </p>
    <h1>${inertText(request.text)}</h1>
    ${
      warnings.length === 0
        ? nothing
        : html`<div class="warning" role="note">
            <p>Look twice:</p>
            ${renderList(warnings)}
          </div>`
    }
    ${
      toolCall === undefined
        ? nothing
        : html`<h2>What will run: <code>${inertLine(toolCall.toolName)}</code></h2>
            ${renderInput(toolCall.input)}${renderMasked(masked)}`
    }
    ${renderList(describeRequest(request, reader))} ${renderEditing(shown)}`;
}

function renderList(lines: readonly string[]): Html {
  return lines.length === 0
    ? nothing
    : html`<ul>
        ${lines.map((line) => html`<li>${line}</li>`)}
      </ul>`;
}

/** Lines that are safe to show: why it is asked, who asks, who may answer, who has, until when. */
function describeRequest(request: UserInputRequest, reader: TimeReader): string[] {
  if (request.type === 'question-request') {
    const { expiresAt } = request;
    const until = expiresAt === undefined ? [] : [`Until: ${describeDeadline(expiresAt, reader)}`];
    return [...renderAsker(request), ...until];
  }
  const { reason, votes = [] } = request;
  const spoken = votes.flatMap(({ person, reason: why }) =>
    why === undefined ? [] : [inertText(`${person} has approved: ${why}`)],
  );
  return [
    ...(reason === undefined ? [] : [inertText(`Why: ${reason}`)]),
    ...renderAsker(request),
    ...renderTerms(request, reader),
    ...spoken,
  ];
}

/* A text of several lines is shown as its lines, any other value as JSON: no text looks like another value. */
function renderInput(input: unknown): Html {
  if (!isObject(input) || Array.isArray(input)) return renderValue(input);
  const fields = Object.entries(input);
  if (fields.length === 0) return html`<p>Without arguments.</p>`;
  return html`<dl>
    ${fields.map(
      ([name, value]) =>
        html`<dt>
            ${inertName(name)}${typeof value === 'string' && value.includes('\n') ? ' (text)' : ''}
          </dt>
          <dd>${renderValue(value)}</dd>`,
    )}
  </dl>`;
}

function renderMasked(masked: number): Html {
  if (masked === 0) return nothing;
  return html`<p>${masked === 1 ? '1 argument' : `${masked} arguments`} can’t be shown here.</p>`;
}

function renderValue(value: unknown): Html {
  const text =
    typeof value === 'string' && value.includes('\n') ? value : JSON.stringify(value, null, 2);
  return html`<pre>${inertText(text ?? '')}</pre>`;
}

function renderEditing({ rights, inboxUrl }: LinkedPage): Html {
  if (!rights.mayEdit) return nothing;
  const where =
    inboxUrl === undefined
      ? html`where you sign in`
      : html`<a href="${inboxUrl}" rel="noreferrer">in your inbox</a>`;
  return html`<p>It can’t be edited here: do that ${where}.</p>`;
}

/*
 * Enter in a field or a box presses a form's first button that is not disabled: this one. It closes the dialog around the form, and there is
 * none.
 */
const firstButton = html`<button type="submit" formmethod="dialog" hidden>Nothing</button>`;

function renderForm({ code, fault }: LinkedPage, controls: Html): Html {
  return html`<form method="post">
    ${firstButton}<input type="hidden" name="code" value="${code}" />
    ${fault === undefined ? nothing : html`<p class="fault" id="fault" role="alert">${fault.text}</p>`}
    ${controls}
  </form>`;
}

function renderDecision(shown: LinkedPage): Html {
  const { rights } = shown;
  return html`${renderReason(shown)}
    <p class="buttons">
      ${rights.mayApprove ? renderButton('approve', 'Approve') : nothing}${rights.mayReject ? renderButton('reject', 'Reject') : nothing}
    </p>`;
}

function renderReason(shown: LinkedPage): Html {
  const { request, filled } = shown;
  const isRequired = request.type === 'approval-request' && request.requireReason === true;
  const label = isRequired ? 'Reason (needed to approve)' : 'Reason';
  return renderTextArea({ name: 'reason', label, text: filled?.reason, shown });
}

function renderQuestion(shown: LinkedPage): Html {
  const { request, rights } = shown;
  if (request.type !== 'question-request') throw new TypeError('Only questions have fields.');
  return html`${request.fields.map((field, place) => renderField(shown, field, place))}
    <p class="buttons">
      ${renderButton('answer', 'Answer')}${rights.mayReject ? renderButton('dismiss', 'Don’t answer') : nothing}
    </p>`;
}

function renderField(shown: LinkedPage, field: QuestionField, place: number): Html {
  const { key, label, options, max, freeText } = field;
  const { optionIds = [], text } = shown.filled?.answers[place] ?? {};
  const name = textName(place);
  if (freeText === 'only') {
    const hint = describeText(field);
    const inputMode = findInputMode(field.schema);
    return renderTextArea({ name, label: inertText(label), hint, inputMode, text, shown, key });
  }
  const type = max > 1 ? 'checkbox' : 'radio';
  const choices = options.map(
    ({ id, label: said, description }, at) =>
      html`<label class="option"
        ><input
          type="${type}"
          name="${optionName(place)}"
          value="${String(at)}"
          ${optionIds.includes(id) ? html` checked` : nothing}${renderInvalid(shown, key)}
        />
        <span
          >${inertText(said)}${description === undefined ? nothing : html`<small>${inertText(description)}</small>`}</span
        ></label
      >`,
  );
  const own =
    freeText === 'never'
      ? nothing
      : renderTextArea({ name, label: 'In your own words', text, shown, key });
  return html`<fieldset>
    <legend>${inertText(label)}</legend>
    ${choices}${own}
  </fieldset>`;
}

/* Never a field of one line, in which Enter could send the form. */
function renderTextArea({
  name,
  label,
  hint,
  inputMode,
  text = '',
  shown,
  key,
}: {
  name: string;
  label: string;
  hint?: string | undefined;
  inputMode?: string | undefined;
  text: string | undefined;
  shown: LinkedPage;
  key?: string;
}): Html {
  const about = hint === undefined ? nothing : html` <small>${hint}</small>`;
  const keys = inputMode === undefined ? nothing : html` inputmode="${inputMode}"`;
  const more = html`${keys}${renderInvalid(shown, key)}`;
  return html`<p>
    <label for="${name}">${label}${about}</label
    ><textarea id="${name}" name="${name}" rows="3" ${more}>${text}</textarea>
  </p>`;
}

function renderInvalid({ fault }: LinkedPage, key?: string): Html {
  if (fault === undefined || fault.key !== key) return nothing;
  return html` aria-invalid="true" aria-describedby="fault"`;
}

function renderButton(action: FilledForm['action'], label: string): Html {
  return html`<button type="submit" name="action" value="${action}" class="${action}">
    ${label}
  </button>`;
}
