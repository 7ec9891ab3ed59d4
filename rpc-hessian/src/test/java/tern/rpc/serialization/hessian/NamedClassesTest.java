package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class NamedClassesTest {

    private static final String EXISTING = NamedClassesTest.class.getName();

    /** A class loader that has classes but no files, as in a native image. */
    private static final class WithoutFiles extends ClassLoader {
        WithoutFiles() {
            super(NamedClassesTest.class.getClassLoader());
        }

        @Override
        public @Nullable URL getResource(String name) {
            return null;
        }
    }

    private final Class<?> service = RecordingLoader.copyOf(PlainService.class);
    private final AtomicLong now = new AtomicLong();
    private final NamedClasses classes = new NamedClasses(service.getClassLoader(), service, now::get);

    private void sendUnknownNames(int count) {
        for (int i = 0; i < count; i++) {
            assertThat(classes.find("a.Unknown" + i)).isNull();
        }
    }

    @Test
    void classLoaderIsNotAskedForClassesWithoutAFile() {
        RecordingLoader.asked(service).clear();

        sendUnknownNames(3_000);

        assertThat(RecordingLoader.asked(service)).isEmpty();
    }

    @Test
    void existingClassIsFound() {
        assertThat(classes.find(EXISTING)).isEqualTo(NamedClassesTest.class);
        assertThat(classes.find("java.lang.IllegalStateException")).isEqualTo(IllegalStateException.class);
        assertThat(classes.isFull()).isFalse();
    }

    @Test
    void arraysAreNotClassesOfMessages() {
        assertThat(classes.find("[L" + EXISTING + ";")).isNull();
    }

    @Test
    void fewFurtherNamesAreSearchedForPerSecond() {
        sendUnknownNames(NamedClasses.MAX_UNKNOWN + NamedClasses.SEARCHES_PER_SECOND);

        assertThat(classes.isFull()).isTrue();
        assertThat(classes.find(EXISTING)).isNull();

        now.set(Duration.ofSeconds(1).toNanos());
        assertThat(classes.find(EXISTING)).isEqualTo(NamedClassesTest.class);
    }

    @Test
    void foundClassNeedsNoFurtherSearch() {
        classes.find(EXISTING);

        sendUnknownNames(NamedClasses.MAX_UNKNOWN + NamedClasses.SEARCHES_PER_SECOND);

        assertThat(classes.find(EXISTING)).isEqualTo(NamedClassesTest.class);
    }

    @Test
    void repeatedUnknownNameIsRememberedOnce() {
        for (int i = 0; i < NamedClasses.MAX_UNKNOWN; i++) {
            classes.find("a.Unknown");
        }

        assertThat(classes.isFull()).isFalse();
    }

    @Test
    void classesAreFoundWithoutFiles() {
        NamedClasses withoutFiles = new NamedClasses(new WithoutFiles(), NamedClassesTest.class, now::get);

        assertThat(withoutFiles.find(EXISTING)).isEqualTo(NamedClassesTest.class);
        assertThat(withoutFiles.find("a.Unknown")).isNull();
    }

    @Test
    void bootClassLoaderIsSearched() {
        NamedClasses ofTheJdk = new NamedClasses(null, Object.class, now::get);

        assertThat(ofTheJdk.find("java.lang.Integer")).isEqualTo(Integer.class);
        assertThat(ofTheJdk.find(EXISTING)).isNull();
    }
}
