package tern.rpc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import org.junit.jupiter.api.Test;

class JsonArchitectureTest extends ModuleRules {

    @Test
    void jsonDependsOnlyOnSerializationAndMessages() {
        onlySees("tern.rpc.serialization.json..", "tern.rpc.serialization", "tern.rpc.serialization.protobuf");
    }

    @Test
    void jsonDoesNotDependOnTheProtobufLibrary() {
        check(noClasses().should(dependOn("com.google..")));
    }
}
