package tern.rpc.pool;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The application's frames on one stack. Some of these frames only forward a call to the code that they surround. An
 * example is a servlet filter that has called {@code FilterChain.doFilter}. Time spent inside of such a frame is not
 * attributed to the frame.
 */
public final class ApplicationFrames {

    /** The classes of Tern RPC that a filter calls to forward a call. */
    private static final Set<String> NEXT = Set.of(
            "tern.rpc.Filter",
            "tern.rpc.client.ReferenceMethods",
            "tern.rpc.client.StreamCall",
            "tern.rpc.server.MethodInvoker");

    private final StackTraceElement[] stack;
    private final Predicate<String> owner;
    private final boolean[] works;

    private ApplicationFrames(StackTraceElement[] stack) {
        this.stack = stack;
        this.owner = ApplicationCode.ownerIn(stack);
        this.works = new boolean[stack.length];
        for (int i = 0; i < stack.length; i++) {
            works[i] = owns(i) && !passesOn(i);
        }
    }

    /** @param stack the frames of a stack, the innermost first */
    public static ApplicationFrames of(StackTraceElement[] stack) {
        return new ApplicationFrames(stack);
    }

    /** Returns whether the frame belongs to the application. */
    public boolean owns(int index) {
        return owner.test(stack[index].getClassName());
    }

    /** Returns whether the frame belongs to the application and does more than forward the call. */
    public boolean works(int index) {
        return works[index];
    }

    /** Returns the index of the innermost frame that does more than forward the call; -1 if there is none. */
    public int firstIndex() {
        for (int i = 0; i < works.length; i++) {
            if (works[i]) {
                return i;
            }
        }
        return -1;
    }

    /** Returns the innermost frame that does more than forward the call; null if there is none. */
    public @Nullable StackTraceElement first() {
        int index = firstIndex();
        return index < 0 ? null : stack[index];
    }

    /** Returns the frames that do more than forward the call, innermost first. */
    public List<StackTraceElement> all() {
        List<StackTraceElement> all = new ArrayList<>();
        for (int i = 0; i < stack.length; i++) {
            if (works[i]) {
                all.add(stack[i]);
            }
        }
        return all;
    }

    /**
     * Returns whether the frame called code that continues a chain of filters or interceptors. Also returns true if the
     * frame directly called another application method that forwards the call.
     */
    private boolean passesOn(int index) {
        for (int i = index - 1; i >= 0; i--) {
            if (owns(i)) {
                return !works[i];
            }
            if (continuesChain(stack[i])) {
                return true;
            }
            if (!isPlumbing(stack[i].getClassName())) {
                return false;
            }
        }
        return false;
    }

    private static boolean continuesChain(StackTraceElement frame) {
        String type = frame.getClassName();
        String method = frame.getMethodName();
        return method.equals("doFilter")
                || method.startsWith("proceed")
                || (type.endsWith("FilterChain") && method.equals("filter"))
                || (type.contains("RequestExecution") && method.equals("execute"))
                || NEXT.contains(type);
    }

    /** Returns whether a class is generated, or implements reflection or lambdas. */
    private static boolean isPlumbing(String type) {
        return type.contains("$$")
                || type.startsWith("jdk.internal.reflect.")
                || type.startsWith("java.lang.reflect.")
                || type.startsWith("java.lang.invoke.")
                || type.startsWith("jdk.proxy")
                || type.startsWith("com.sun.proxy.");
    }
}
