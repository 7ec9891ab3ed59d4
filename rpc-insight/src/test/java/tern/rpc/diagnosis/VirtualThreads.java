package tern.rpc.diagnosis;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import tern.rpc.evidence.VirtualStacks;

/** Starts virtual threads. Tests that use this class are skipped before Java 21. */
public final class VirtualThreads {

    private VirtualThreads() {}

    public static Thread start(String name, Runnable code) throws ReflectiveOperationException {
        assumeTrue(VirtualStacks.isSupported(), "there are no virtual threads before Java 21");
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        Object named = type.getMethod("name", String.class).invoke(builder, name);
        return (Thread) type.getMethod("start", Runnable.class).invoke(named, code);
    }
}
