package tern.rpc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.net.URISyntaxException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import tern.rpc.spring.autoconfigure.diagnosis.RpcDiagnosisAutoConfiguration;

class InsightStarterArchitectureTest {

    private static final JavaClasses STARTER = new ClassFileImporter().importPath(ownClasses());

    @Test
    void starterDependsOnNoServerNoTransportAndNoFormat() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.netty..", "tern.rpc.server..", "tern.rpc.netty..", "tern.rpc.serialization..")
                .check(STARTER);
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching("tern.rpc.(**)").should().beFreeOfCycles().check(STARTER);
    }

    private static Path ownClasses() {
        try {
            return Path.of(RpcDiagnosisAutoConfiguration.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
