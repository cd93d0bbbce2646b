import {
  inertLine,
  type QuestionField as Field,
  type QuestionOption,
  type QuestionRequestContent,
} from 'holdpoint';
import { Inert } from './inert.tsx';
import { inputNames, otherValue, textPlace } from './read-answer.ts';

interface QuestionFieldProps {
  field: Field;
  id: string;
  /** Whether the question has no other field; its label is then the card's title. */
  isOnly: boolean;
  kind: QuestionRequestContent['kind'];
  fault: string | undefined;
}

/** A field of a question: options to pick one or several of, and text if the field allows it. */
export function QuestionField({ field, id, isOnly, kind, fault }: QuestionFieldProps) {
  const { label, options, max } = field;
  const type = max > 1 ? 'checkbox' : 'radio';
  const text = textPlace(field, kind);
  return (
    <fieldset aria-describedby={fault === undefined ? undefined : `${id}-fault`}>
      <legend className={isOnly ? 'unseen' : undefined}>
        <Inert text={label} />
      </legend>
      {text !== 'alone' &&
        options.map((option) => (
          <Option key={option.id} type={type} field={field} option={option} />
        ))}
      {text === 'instead' && <Other field={field} id={id} />}
      {(text === 'alone' || text === 'beside') && (
        <input
          className="text"
          name={inputNames.text(field)}
          aria-label={text === 'alone' ? inertLine(label) : 'In your own words'}
          placeholder={text === 'alone' ? 'Your answer' : 'In your own words (optional)'}
          autoComplete="off"
        />
      )}
      {fault !== undefined && (
        <p id={`${id}-fault`} className="fault" role="alert">
          {fault}
        </p>
      )}
    </fieldset>
  );
}

interface OptionProps {
  type: 'checkbox' | 'radio';
  field: Field;
  option: QuestionOption;
}

function Option({ type, field, option }: OptionProps) {
  return (
    <label className="option">
      <input type={type} name={inputNames.option(field)} value={option.id} />
      <span>
        <Inert text={option.label} />
        {field.preselected?.includes(option.id) && <small>Suggested</small>}
        {option.description !== undefined && option.description !== '' && (
          <small>
            <Inert text={option.description} />
          </small>
        )}
      </span>
    </label>
  );
}

/** An answer that is not among the options: typing selects it. */
function Other({ field, id }: { field: Field; id: string }) {
  return (
    <div className="option">
      <input
        type="radio"
        id={`${id}-other`}
        name={inputNames.option(field)}
        value={otherValue}
        aria-label="Something else"
      />
      <input
        className="text"
        name={inputNames.text(field)}
        aria-label="Something else, in your own words"
        placeholder="Something else"
        autoComplete="off"
        onInput={() => {
          const radio = document.getElementById(`${id}-other`);
          if (radio instanceof HTMLInputElement) radio.checked = true;
        }}
      />
    </div>
  );
}
