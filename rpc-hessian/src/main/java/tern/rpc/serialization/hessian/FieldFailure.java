package tern.rpc.serialization.hessian;

import tern.rpc.Thrown;
import tern.rpc.serialization.MessageTooLargeException;

/**
 * Thrown when a value could not be written. The exception's message contains the field names on the path to the value.
 */
final class FieldFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;
    private static final int MAX_FIELDS = 32;

    private final StringBuilder text;
    private int fields;

    private FieldFailure(Throwable cause) {
        super(cause);
        this.text = new StringBuilder(String.valueOf(Thrown.message(cause)));
    }

    /**
     * Returns the exception to throw if a field could not be written. Puts the field's name before the names of the
     * nested fields in the exception's message. Returns a {@link MessageTooLargeException} unchanged.
     */
    static RuntimeException at(String field, Throwable failure) {
        if (failure instanceof MessageTooLargeException tooLarge) {
            return tooLarge;
        }
        FieldFailure known = failure instanceof FieldFailure deeper ? deeper : new FieldFailure(failure);
        known.fields++;
        if (known.fields <= MAX_FIELDS) {
            known.text.append(", field: ").append(field);
        }
        return known;
    }

    @Override
    public String getMessage() {
        return text.toString();
    }
}
