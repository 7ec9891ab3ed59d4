package tern.rpc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import org.junit.jupiter.api.Test;

class ConsoleArchitectureTest extends AnyModuleRules {

    @Test
    void moduleDependsOnNeitherNettyNorTheDiagnosis() {
        check(noClasses()
                .should(dependOn("io.netty..", "tern.rpc.netty..", "tern.rpc.diagnosis..", "tern.rpc.pool..")));
    }

    @Test
    void callsDoNotDependOnSpring() {
        check(noClasses()
                .that()
                .haveNameMatching(".*\\.(ConsoleCall|ConsoleStream|ConsoleTransport|RequestRules)(\\$.*)?")
                .should(dependOn("org.springframework..")));
    }

    @Test
    void servletsAndReactorStayInTheirFilters() {
        check(noClasses().that().haveNameNotMatching(".*Servlet.*").should(dependOn("jakarta.servlet..")));
        check(noClasses().that().haveNameNotMatching(".*WebFilter.*").should(dependOn("reactor..")));
    }
}
