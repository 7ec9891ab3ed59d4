package tern.rpc.serialization.hessian;

import tern.rpc.Thrown;
import tern.rpc.serialization.MessageTooLargeException;

/** A value that could not be written, with the fields that lead to it. */
final class FieldFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;
    private static final int MAX_FIELDS = 32;

    private final StringBuilder text;
    private int fields;

    private FieldFailure(Throwable cause) {
        super(cause);
        this.text = new StringBuilder(String.valueOf(Thrown.message(cause)));
    }

    /** What to throw on when a field could not be written: the same failure, knowing one field more. */
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
