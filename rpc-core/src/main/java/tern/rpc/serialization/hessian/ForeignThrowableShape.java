package tern.rpc.serialization.hessian;

import tern.rpc.RpcException;

/** An exception of a class that may not be read or does not exist here: its name, its message and its trace are kept. */
final class ForeignThrowableShape extends Shape {

    private final String name;
    private final String end;

    /** @param end of its message */
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
