package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/** Tests code that makes the JVM load classes in each call. */
class LoadedClassesTest {

    private static Cause first(String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], "Scripts.java", 26))
                .toArray(StackTraceElement[]::new);
        ThreadSnapshot thread = new ThreadSnapshot("worker-1", 9, Thread.State.RUNNABLE, stack, null, null, -1, -1);
        return new SampledCalls()
                .calls("RateService.terms", Phase.OWN, 300, samples -> {
                    samples.add(SampledCalls.sample(Phase.OWN, thread));
                    samples.addStack(Phase.OWN, thread, false);
                })
                .causes()
                .get(0);
    }

    @Test
    void codeBelowWhichTheJvmLoadsClassesMayCreateAClassLoaderInEachCall() {
        Cause first = first(
                "java.lang.ClassLoader/defineClass1",
                "java.net.URLClassLoader/findClass",
                "java.lang.ClassLoader/loadClass",
                "tools.jackson.databind.ObjectMapper/<init>",
                "rates.Scripts/isolated");

        assertThat(first.title()).isEqualTo("CODE COMPUTES: Scripts.isolated");
        assertThat(first.change().text()).contains("if each call creates a class loader, keep one");
        assertThat(first.evidence()).contains("classes  100 of 100 samples show that the JVM loads a class");
    }

    @Test
    void lookupOfALoadedClassIsNotMentioned() {
        Cause first = first(
                "java.lang.ClassLoader/loadClass",
                "tools.jackson.databind.ObjectMapper/<init>",
                "rates.Scripts/isolated");

        assertThat(first.change().text()).doesNotContain("class loader");
    }
}
