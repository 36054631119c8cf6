"""Where containers are connected: public subnets, because a NAT gateway costs more than all of Punctual."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk.acknowledge import acknowledge

ZONES = 2


class Network(Construct):
    """Outward only: a container gets an address of its own to call out from, and nobody can call it."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            max_azs=ZONES,
            nat_gateways=0,
            subnet_configuration=[
                ec2.SubnetConfiguration(
                    name="Public",
                    subnet_type=ec2.SubnetType.PUBLIC,
                    cidr_mask=20,
                    # Only what asks for a public address gets one.
                    map_public_ip_on_launch=False,
                )
            ],
        )
        self.security_group = ec2.SecurityGroup(
            self,
            "Containers",
            vpc=self.vpc,
            description="Punctual containers: outward only",
            allow_all_outbound=True,
        )
        acknowledge(
            self.vpc,
            "AwsSolutions-VPC7",
            "Nothing here listens, and each container's log says what it did. A record of every connection of "
            "every batch is paid by the gigabyte; whoever needs one turns flow logs on for this VPC.",
        )

    @property
    def subnets(self) -> list[str]:
        return [subnet.subnet_id for subnet in self.vpc.public_subnets]
