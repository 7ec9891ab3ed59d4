package tern.rpc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import org.junit.jupiter.api.Test;

class RegistryZooKeeperArchitectureTest extends AnyModuleRules {

    @Test
    void moduleDependsOnNeitherNettyNorSpringNorDubbo() {
        check(noClasses().should(dependOn("io.netty..", "org.springframework..", "org.apache.dubbo..")));
    }

    @Test
    void formatsDoNotDependOnZooKeeper() {
        check(noClasses()
                .that()
                .resideInAPackage("tern.rpc.registry.dubbo..")
                .should(dependOn("org.apache.zookeeper..", "org.apache.curator..", "tern.rpc.registry.zookeeper..")));
    }
}
