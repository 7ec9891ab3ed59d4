package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tern.rpc.spring.autoconfigure.migrated.HalfMigrated;

/** Tests the warning about Dubbo annotations in an application in which Dubbo is not active. */
@ExtendWith(OutputCaptureExtension.class)
class DubboAnnotationsTest {

    private static final String WARNING = "Annotations of Dubbo have no effect";

    @Test
    void annotationsThatAreLeftAreNamedWithTheirPlaces(CapturedOutput output) {
        application(HalfMigrated.class).run(here -> assertThat(here).hasNotFailed());

        assertThat(output)
                .contains(WARNING + ", because Dubbo is not active in this application: "
                        + HalfMigrated.class.getName() + "$Left has @DubboService, "
                        + HalfMigrated.class.getName() + ".reference has @DubboReference."
                        + " Write @RpcService and @RpcReference instead");
    }

    @Test
    void applicationWithoutAnnotationsOfDubboCausesNoWarning(CapturedOutput output) {
        application().run(here -> assertThat(here).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }
}
