package tern.rpc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import org.junit.jupiter.api.Test;

/** The architecture rules for every module that uses neither Netty nor Spring. */
public abstract class ModuleRules extends AnyModuleRules {

    @Test
    void moduleDependsOnNeitherNettyNorSpring() {
        check(noClasses().should(dependOn("io.netty..", "org.springframework..")));
    }

    @Test
    void moduleDependsOnNoPoolAndNoRegistry() {
        check(noClasses()
                .should(dependOn(
                        "com.alibaba.druid..",
                        "com.zaxxer..",
                        "redis.clients..",
                        "org.apache.zookeeper..",
                        "org.apache.curator..",
                        "com.alibaba.nacos..")));
    }
}
