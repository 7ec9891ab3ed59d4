package tern.rpc.serialization.hessian;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.serialization.SerializationException;

/**
 * Reads an exception, its causes and its suppressed exceptions, where the declared type allows any exception. Content
 * over a limit is dropped. The message is still accepted, because the caller must get an answer even if a stack trace
 * is too long. Not thread-safe.
 */
final class LinkedThrowables implements ThrowableParts.Source {

    static final int MAX_FRAMES = 64;
    static final int MAX_LINKS = 8;
    static final int MAX_MESSAGE = 8 << 10;

    /**
     * The maximum number of exceptions in one message. Creating an exception always walks the stack of the reading
     * thread, even if the message contains no stack trace.
     */
    static final int MAX_IN_ALL = 512;

    /** The end of the message of an exception whose class is missing or not allowed in this application. */
    private static final String UNKNOWN_CLASS =
            " (the class is missing in this application, or may not be read: add the version of the interface's jar"
                    + " that the sender has, or list the class in rpc.limits.allowed-classes)";

    private static final Slot FRAME = Slot.of(StackTraceElement.class);
    private static final Slot TEXT = Slot.of(String.class);

    private final HessianInput in;
    private final ValueReader values;
    private int links;
    private int made;
    // The reason why only the class name, message and stack trace of exceptions are read; null if exceptions are read
    // completely.
    private @Nullable String withoutClass;

    LinkedThrowables(HessianInput in, ValueReader values) {
        this.in = in;
        this.values = values;
    }

    void start() {
        links = 0;
        made = 0;
    }

    /**
     * Counts an exception before it is created. Rejects the message if it contains more than {@link #MAX_IN_ALL}
     * exceptions.
     */
    void count() {
        made++;
        if (made > MAX_IN_ALL) {
            throw new SerializationException("more than " + MAX_IN_ALL + " exceptions" + in.here());
        }
    }

    /** Reads the next value, which must be an exception. */
    Throwable read() {
        int tag = values.nextTag();
        if (Tags.kind(tag) == Tags.REFERENCE) {
            int number = values.readReference();
            if (values.references().get(number, in) instanceof Throwable known) {
                return known;
            }
            throw new SerializationException("value " + number + " is not an exception" + in.here());
        }
        if (Tags.kind(tag) != Tags.OBJECT) {
            throw in.unexpected(tag, "an exception");
        }
        WireClass wire = values.classOf(tag);
        Shape shape = values.types().throwableShape(wire.name);
        if (withoutClass != null) {
            shape = new ForeignThrowableShape(wire.name, links == 0 ? withoutClass : "");
        } else if (shape == null) {
            shape = new ForeignThrowableShape(wire.name, links == 0 ? UNKNOWN_CLASS : "");
        }
        Object made = values.object(wire, shape);
        if (made instanceof Throwable throwable) {
            return throwable;
        }
        throw new SerializationException(wire.name + " became no exception" + in.here());
    }

    /**
     * Reads the class name, message and stack trace of the next value, which must be an exception.
     *
     * @param why the reason for reading only these parts, which the exception's message will contain
     */
    Throwable readWithoutClass(String why) {
        withoutClass = "; it was read without its class: " + why;
        try {
            return read();
        } finally {
            withoutClass = null;
        }
    }

    /**
     * Reads a cause or a suppressed exception. Returns null if the value is null, if it is a reference that cannot be
     * resolved, or if a limit is reached. An exception that refers to itself as its cause has no cause.
     */
    @Override
    public @Nullable Throwable readLinked() {
        int kind = Tags.kind(values.peekTag());
        if (kind == Tags.NULL) {
            values.nextTag();
            return null;
        }
        if (kind == Tags.REFERENCE) {
            values.nextTag();
            int number = values.readReference();
            return values.references().isAvailable(number)
                            && values.references().get(number, in) instanceof Throwable known
                    ? known
                    : null;
        }
        if (links >= MAX_LINKS || made >= MAX_IN_ALL) {
            values.skipDeep();
            return null;
        }
        links++;
        Throwable linked = read();
        links--;
        return linked;
    }

    @Override
    public List<Throwable> readSuppressed() {
        List<Throwable> suppressed = new ArrayList<>();
        readList(MAX_LINKS, () -> {
            Throwable linked = readLinked();
            if (linked != null) {
                suppressed.add(linked);
            }
        });
        return suppressed;
    }

    @Override
    public StackTraceElement[] readFrames() {
        List<StackTraceElement> frames = new ArrayList<>();
        readList(MAX_FRAMES, () -> {
            if (values.read(FRAME) instanceof StackTraceElement frame) {
                frames.add(frame);
            }
        });
        return frames.toArray(StackTraceElement[]::new);
    }

    @Override
    public @Nullable String readMessage() {
        String message = (String) values.read(TEXT);
        return message == null || message.length() <= MAX_MESSAGE ? message : message.substring(0, MAX_MESSAGE);
    }

    private void readList(int max, Runnable element) {
        if (Tags.kind(values.peekTag()) != Tags.LIST) {
            values.skipDeep();
            return;
        }
        int tag = values.nextTag();
        int start = in.position() - 1;
        values.listType(tag);
        int length = values.listLength(tag);
        if (length >= 0) {
            in.promise(length);
        }
        values.references().addSkipped(start);
        for (int i = 0; length < 0 ? !in.isEnd() : i < length; i++) {
            if (length >= 0) {
                in.fulfil();
            }
            if (i < max) {
                element.run();
            } else {
                values.skipDeep();
            }
        }
    }

    /**
     * Returns a substitute for an exception whose class must not be used in this process.
     *
     * @param end the text to append to the exception's message
     */
    static RpcException foreign(String className, ThrowableParts parts, String end) {
        return parts.addTo(new RpcException(
                StatusCode.UNKNOWN,
                Texts.shortened(className) + ": " + parts.message() + end,
                RpcException.Executed.YES,
                parts.cause()));
    }
}
