package tern.rpc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import org.junit.jupiter.api.Test;

/**
 * Checks that each package imports only the packages that it may use. A rule about a package that does not exist
 * passes.
 */
class ArchitectureTest extends AnyModuleRules {
    @Test
    void starterDoesNotDependOnNetty() {
        check(noClasses().should(dependOn("io.netty..")));
    }

    @Test
    void grpcStaysInOneClass() {
        check(noClasses()
                .that()
                .doNotHaveFullyQualifiedName("tern.rpc.spring.autoconfigure.GrpcBeans")
                .should(dependOn("io.grpc..", "tern.rpc.grpc..")));
    }

    @Test
    void starterDoesNotDependOnSamples() {
        check(noClasses().should(dependOn("tern.rpc.sample..", "tern.rpc.load..")));
    }
}
