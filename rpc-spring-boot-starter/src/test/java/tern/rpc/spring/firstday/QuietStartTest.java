package tern.rpc.spring.firstday;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that an application starts without JVM warnings. Since JDK 24, the JVM warns about many operations of
 * libraries, unless flags allow these operations.
 */
@Timeout(240)
class QuietStartTest {

    @Test
    void startAndFirstCallsMakeTheJvmWarnOfNothing(@TempDir Path folder) throws Exception {
        String output = StarterJars.resolve().run(folder, QuietApplication.class);

        assertThat(output).containsPattern("(?s)(cooked soup.*){2}").doesNotContain("WARNING", " WARN ");
    }
}
