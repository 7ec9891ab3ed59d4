package tern.rpc.serialization.hessian;

import tern.rpc.RpcException;

/**
 * Reads an exception whose class is not allowed or does not exist in this process. Only the exception's class name,
 * message and stack trace are kept.
 */
final class ForeignThrowableShape extends Shape {

    private final String name;
    private final String end;

    /**
     * Creates a reader for exceptions with the given class name.
     *
     * @param end the text to append to the exception's message
     */
    ForeignThrowableShape(String name, String end) {
        super(RpcException.class, ThrowableParts.NAMES);
        this.name = name;
        this.end = end;
    }

    @Override
    Object read(ValueReader reader, WireClass wire) {
        reader.throwables().count();
        int number = reader.references().addUnfinished();
        ThrowableParts parts = new ThrowableParts();
        for (int place : bind(wire.fields)) {
            reader.fulfil();
            if (place < 0) {
                reader.skipDeep();
            } else {
                parts.read(place, reader.throwables());
            }
        }
        RpcException made = LinkedThrowables.foreign(name, parts, end);
        reader.references().finish(number, made);
        return made;
    }
}
