package tern.rpc;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.util.Comparator;
import java.util.EventListener;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests which interfaces are rejected because they need callbacks. Interfaces whose methods use only data types are
 * accepted.
 */
class CallbacksTest {

    interface TakesConsumer {
        void watch(String name, Consumer<String> told);
    }

    interface TakesPredicate {
        void filter(IntPredicate wanted);
    }

    interface TakesRunnable {
        void later(Runnable task);
    }

    interface TakesComparator {
        List<String> sorted(Comparator<String> order);
    }

    interface TakesList {
        void all(List<? extends Consumer<String>> told);
    }

    interface TakesMap {
        void named(Map<String, Runnable[]> tasks);
    }

    interface Returns {
        Supplier<String> later();
    }

    interface Listener {
        void changed(String key);

        void removed(String key);
    }

    interface TakesListener {
        void listen(String key, Listener listener);
    }

    interface Event extends EventListener {}

    interface TakesEvent {
        void listen(Event event);
    }

    @FunctionalInterface
    interface Rule {
        boolean fits(String text);
    }

    interface TakesRule {
        void rule(Rule rule);
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                TakesConsumer.class,
                TakesPredicate.class,
                TakesRunnable.class,
                TakesComparator.class,
                TakesList.class,
                TakesMap.class,
                Returns.class,
                TakesListener.class,
                TakesEvent.class,
                TakesRule.class
            })
    void callbackIsRefusedWithItsPlace(Class<?> service) {
        assertThatThrownBy(() -> ServiceDescriptor.of(service))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(service.getSimpleName() + ".")
                .hasMessageMatching(".*, (parameter [12]|result): .+ is a callback, which cannot be sent; return a"
                        + " Flow.Publisher, or take a .*");
    }

    interface Named {
        String name();
    }

    interface Changeable extends Named {
        void rename(String name);
    }

    interface Marker extends Serializable {}

    interface TakesData {
        Named ask(Changeable changeable, Marker marker, List<Named> names, Comparable<String> key, CharSequence text);
    }

    @Test
    void interfacesOfDataAreNoCallbacks() {
        assertThatCode(() -> ServiceDescriptor.of(TakesData.class)).doesNotThrowAnyException();
    }
}
