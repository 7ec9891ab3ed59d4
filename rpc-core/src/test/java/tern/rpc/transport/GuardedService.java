package tern.rpc.transport;

import java.io.Serializable;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A service whose argument types count their instances. */
public interface GuardedService {

    int take(Counted one, List<Counted> more);

    @Nullable
    String caller();

    List<String> headers();

    /** A class that counts the calls to its constructors, setters and replacement methods. */
    class Counted implements Serializable {

        private static final long serialVersionUID = 1L;

        /** The number of calls to constructors, setters and replacement methods so far. */
        public static final AtomicInteger MADE = new AtomicInteger();

        private String name = "";
        private @Nullable Counted inner;

        public Counted() {
            MADE.incrementAndGet();
        }

        public String getName() {
            return name;
        }

        public void setName(String name) {
            MADE.incrementAndGet();
            this.name = name;
        }

        public @Nullable Counted getInner() {
            return inner;
        }

        public void setInner(Counted inner) {
            MADE.incrementAndGet();
            this.inner = inner;
        }

        Object readResolve() {
            MADE.incrementAndGet();
            return this;
        }
    }
}
