import { useId } from 'preact/hooks';
import { inertText } from '../../../content/inert-text.ts';
import type { AnswerFault, Enter, FormField, FormText } from '../../../view/answer-form.ts';
import { Inert } from './inert.tsx';

/** The id of a field's element, which can have the focus. */
export const fieldId = (key: string): string => `field ${key}`;

interface FieldProps {
  field: FormField;
  onEnter: (enter: Enter) => void;
}

interface FieldViewProps extends FieldProps {
  faults: readonly AnswerFault[];
  /** True if the field's label is shown above it anyway. */
  isTitled?: boolean;
  /** True if the options say that there is no text, instead of the text that there is no option. */
  isTextFirst?: boolean;
}

/** One field of the form of an answer. No key in it sends anything. */
export function FieldView({ field, faults, isTitled, isTextFirst, onEnter }: FieldViewProps) {
  const { key, label, description, text } = field;
  const fault = field.fault ?? faults.find((each) => each.key === key)?.text;
  const id = useId();
  const isHidden = text?.isCode !== true && inertText(text?.value ?? '').includes('\\u{');
  const notes = [
    ...(description === undefined ? [] : [`${id}-about`]),
    ...(isHidden ? [`${id}-hidden`] : []),
    ...(fault === undefined ? [] : [`${id}-fault`]),
  ];
  const described = {
    'aria-describedby': notes.length === 0 ? undefined : notes.join(' '),
  };
  const options = (
    <div class="options">
      <FieldOptions field={field} onEnter={onEnter} />
    </div>
  );
  /* The label of the text says more. */
  const isSaid = field.options.length === 0 && text !== undefined && text.label !== label;
  return (
    <fieldset class="form-field" id={fieldId(key)} tabIndex={-1} {...described}>
      <legend class={isTitled === true || isSaid ? 'unseen' : undefined}>{label}</legend>
      {description !== undefined && (
        <p class="muted" id={`${id}-about`}>
          {description}
        </p>
      )}
      {isTextFirst !== true && options}
      {text !== undefined && (
        <label class="field">
          {text.label !== label && text.label}
          <textarea
            {...described}
            aria-label={text.label}
            aria-invalid={fault !== undefined}
            class={text.isCode === true ? 'code' : undefined}
            rows={countRows(text)}
            inputMode={text.inputMode}
            spellcheck={text.isCode !== true}
            value={text.value}
            onInput={({ currentTarget }) => onEnter(text.write(currentTarget.value))}
          />
        </label>
      )}
      {isTextFirst === true && options}
      {isHidden && (
        <p class="warning" id={`${id}-hidden`}>
          With what would be invisible: <Inert text={text?.value ?? ''} />
        </p>
      )}
      {fault !== undefined && (
        <p class="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </fieldset>
  );
}

function countRows({ value, inputMode }: FormText): number {
  if (inputMode !== undefined) return 1;
  return Math.min(16, Math.max(value.split('\n').length, Math.ceil(value.length / 60)) + 1);
}

/** The options of a field. */
export function FieldOptions({ field: { key, options, isMany }, onEnter }: FieldProps) {
  return options.map(({ id, label: said, description, isPicked, pick }) => (
    <label key={id} class="check">
      <input
        type={isMany ? 'checkbox' : 'radio'}
        name={fieldId(key)}
        checked={isPicked}
        onChange={({ currentTarget }) => onEnter(pick(currentTarget.checked))}
      />
      <span>
        {said}
        {description !== undefined && description !== '' && (
          <small class="about">{description}</small>
        )}
      </span>
    </label>
  ));
}
