package tern.rpc.console;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodType;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

/**
 * The answers to a {@link ConsoleCall} as JSON. If there are too many answers or bytes, the answers are truncated and
 * later answers are dropped. The call's lock guards the state.
 */
final class ConsoleAnswers {

    /** The maximum total size of the answers in bytes. */
    static final int MAX_ANSWER_BYTES = 1 << 20;

    private final JsonMethod json;
    private final MethodType type;
    private final int maxMessages;
    private final List<String> texts = new ArrayList<>();
    private long bytes;
    private String whyCut = ""; // the reason why the answers are truncated; empty if they are complete

    /** @param maxMessages the maximum number of messages of a stream */
    ConsoleAnswers(JsonMethod json, MethodType type, int maxMessages) {
        this.json = json;
        this.type = type;
        this.maxMessages = maxMessages;
    }

    /**
     * Encodes an answer as JSON. Needs no lock.
     *
     * @return null if the JSON is larger than {@link #MAX_ANSWER_BYTES}
     * @throws RpcException INTERNAL if the answer cannot be encoded
     */
    @Nullable
    String encoded(@Nullable Object value) {
        OutputBuffer out = new OutputBuffer();
        out.reset(MAX_ANSWER_BYTES);
        try {
            json.writeResult(value, out);
        } catch (MessageTooLargeException e) {
            return null;
        } catch (SerializationException e) {
            throw new RpcException(
                    StatusCode.INTERNAL, "the answer cannot be written: " + e.getMessage(), Executed.YES, e);
        }
        return new String(out.array(), 0, out.position(), StandardCharsets.UTF_8);
    }

    /**
     * Adds an encoded answer, unless the answers have been truncated.
     *
     * @param text the result of {@link #encoded}
     * @return whether this answer has caused the truncation
     */
    boolean add(@Nullable String text) {
        if (areCut()) {
            return false;
        }
        int size = text == null ? 0 : text.getBytes(StandardCharsets.UTF_8).length;
        if (text == null || bytes + size > MAX_ANSWER_BYTES) {
            return cut(texts.size() + " answers were kept; one more exceeds " + MAX_ANSWER_BYTES + " bytes in all");
        }
        texts.add(text);
        bytes += size;
        return type.serverStreams()
                && texts.size() >= maxMessages
                && cut("the stream did not end after " + maxMessages + " answers");
    }

    /**
     * Marks the answers as truncated, unless they already are.
     *
     * @return whether this invocation has marked the answers as truncated
     */
    boolean cut(String why) {
        if (areCut()) {
            return false;
        }
        whyCut = why;
        return true;
    }

    boolean areCut() {
        return !whyCut.isEmpty();
    }

    /** Returns the reason why the answers are truncated; empty if they are complete. */
    String whyCut() {
        return whyCut;
    }

    int size() {
        return texts.size();
    }

    long bytes() {
        return bytes;
    }

    List<String> texts() {
        return List.copyOf(texts);
    }
}
