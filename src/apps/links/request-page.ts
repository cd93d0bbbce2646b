import { describeDeadline, type TimeReader } from '../../content/deadline-words.ts';
import { inertLine, inertName, inertText } from '../../content/inert-text.ts';
import { isObject } from '../../json/json-value.ts';
import type { RequestRights } from '../../content/request-rights.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import {
  type AnswerFault,
  type FormField,
  type FormText,
  listQuestionFields,
  makeReasonField,
} from '../../view/answer-form.ts';
import { makeRequestCard, renderFact } from '../../view/request-card.ts';
import { type FilledForm, optionName, textName } from './answer-form.ts';
import { type Html, html, nothing } from './html.ts';

/** A request as one person sees it. */
export interface LinkedPage {
  /** Without secrets. */
  request: UserInputRequest;
  /** The number of masked arguments. */
  masked: number;
  rights: RequestRights;
  /** The person, as a line that is safe to show. */
  person: string;
  /** True if the app demands a sign-in; otherwise whoever has the link can use it. */
  needsSignIn: boolean;
  /** The expiry of the link, in milliseconds since 1970. */
  endsAt: number;
  reader: TimeReader;
  /** The address where people edit, if the app has one. */
  inboxUrl: string | undefined;
  /** The code that proves that the form is the page's own. */
  code: string;
  /** The form as it was filled in before, and its faults. */
  filled?: FilledForm;
  fault?: AnswerFault | undefined;
}

/** Checks whether the page asks once more before it approves. */
export function needsConfirmation(request: UserInputRequest): boolean {
  return request.type === 'approval-request' && request.risk === 'critical';
}

/** Renders the request with a form that answers it. */
export function renderRequestPage(shown: LinkedPage): Html {
  const { request } = shown;
  const form = request.type === 'approval-request' ? renderDecision(shown) : renderQuestion(shown);
  return html`${renderRequest(shown)}${renderForm(shown, form)}`;
}

/** Renders the request once more, with a form that approves it: for requests of the highest risk. */
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
  const { title, call, facts, warnings } = makeRequestCard(request, { masked });
  const warning = 'Whoever has this link can answer in this name: don’t forward it. ';
  return html`<p class="person">
      For <b>${person}</b>. ${needsSignIn ? '' : warning}It ends
      ${describeDeadline(endsAt, reader)}.
    </p>
    <h1>${inertText(title)}</h1>
    ${
      warnings.length === 0
        ? nothing
        : html`<div class="warning" role="note">
            <p>Look twice:</p>
            ${renderList(warnings)}
          </div>`
    }
    ${
      call === undefined
        ? nothing
        : html`<h2>What will run: <code>${inertLine(call.toolName)}</code></h2>
            ${renderInput(call.input)}`
    }
    ${renderList(facts.map((fact) => renderFact(fact, reader)))} ${renderEditing(shown)}`;
}

function renderList(lines: readonly string[]): Html {
  return lines.length === 0
    ? nothing
    : html`<ul>
        ${lines.map((line) => html`<li>${line}</li>`)}
      </ul>`;
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
 * Enter in a field or a box presses the form's first enabled button: this one. It closes the dialog around the form, which doesn't exist.
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
  const { request, filled, rights } = shown;
  if (request.type !== 'approval-request') return nothing;
  const asked = { request, rights, digest: request.digest };
  const { key, label, text } = makeReasonField(asked, filled?.draft ?? {});
  return renderTextArea({ name: 'reason', text: { ...text, label }, shown, key });
}

function renderQuestion(shown: LinkedPage): Html {
  const { request, rights, filled } = shown;
  if (request.type !== 'question-request') throw new TypeError('Only questions have fields.');
  const fields = listQuestionFields(request, filled?.draft ?? {});
  return html`${fields.map((field, place) => renderField(shown, field, place))}
    <p class="buttons">
      ${renderButton('answer', 'Answer')}${rights.mayReject ? renderButton('dismiss', 'Don’t answer') : nothing}
    </p>`;
}

function renderField(shown: LinkedPage, field: FormField, place: number): Html {
  const { key, label, options, isMany, text } = field;
  const typed = text && renderTextArea({ name: textName(place), text, shown, key });
  if (options.length === 0 && typed !== undefined) return typed;
  const choices = options.map(
    ({ label: said, description, isPicked }, at) =>
      html`<label class="option"
        ><input
          type="${isMany ? 'checkbox' : 'radio'}"
          name="${optionName(place)}"
          value="${String(at)}"
          ${isPicked ? html` checked` : nothing}${renderInvalid(shown, key)}
        />
        <span
          >${said}${description === undefined ? nothing : html`<small>${description}</small>`}</span
        ></label
      >`,
  );
  return html`<fieldset>
    <legend>${label}</legend>
    ${choices}${typed ?? nothing}
  </fieldset>`;
}

/* Never a field of one line, in which Enter could send the form. */
function renderTextArea({
  name,
  text: { label, value, inputMode },
  shown,
  key,
}: {
  name: string;
  text: FormText;
  shown: LinkedPage;
  key: string;
}): Html {
  const keys = inputMode === undefined ? nothing : html` inputmode="${inputMode}"`;
  const more = html`${keys}${renderInvalid(shown, key)}`;
  return html`<p>
    <label for="${name}">${label}</label
    ><textarea id="${name}" name="${name}" rows="3" ${more}>${value}</textarea>
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
