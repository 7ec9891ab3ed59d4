package tern.rpc.load.peer;

import tern.rpc.load.peer.proto.Email;
import tern.rpc.load.peer.proto.Flag;
import tern.rpc.load.peer.proto.PageNumber;
import tern.rpc.load.peer.proto.PersonMessage;
import tern.rpc.load.peer.proto.Text;
import tern.rpc.load.peer.proto.Times;
import tern.rpc.load.peer.proto.UserId;
import tern.rpc.load.peer.proto.UserMessage;
import tern.rpc.load.peer.proto.UserPage;

/** The {@code tern.load.Benchmark} service of the {@code .proto} file as a Java interface with protobuf messages. */
public interface ProtobufBenchmark {

    Flag existUser(Email email);

    Flag createUser(UserMessage user);

    UserMessage getUser(UserId id);

    UserPage listUser(PageNumber pageNo);

    Text echoText(Text text);

    PersonMessage echoPerson(PersonMessage person);

    Text build(Times times);
}
